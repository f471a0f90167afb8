"""Providers that other distributions bring, by the entry-point group `GROUP`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from pytest_llmeval.engine.ports import OpenProvider
from pytest_llmeval.errors import UsageError

GROUP = "pytest_llmeval.providers"
"""An entry point in it is named as the specs of its models begin, and refers to an
`OpenProvider`."""


@dataclass(frozen=True, slots=True)
class InstalledProvider:
    """One entry point of the group."""

    entry_point: EntryPoint

    @property
    def told(self) -> str:
        """The distribution and its version, as messages tell them."""
        dist = self.entry_point.dist
        return "an unknown distribution" if dist is None else f"{dist.name} {dist.version}"

    def load(self) -> OpenProvider:
        """Return what opens the provider; UsageError names the distribution whose code cannot be loaded."""
        try:
            opener = self.entry_point.load()
        # A stranger's module may do anything while it is imported, leaving the process among it.
        except (Exception, SystemExit) as error:
            msg = (
                f"provider {self.entry_point.name!r} of {self.told} cannot be loaded "
                f"({self.entry_point.value}: {type(error).__name__}: {error}); mend or uninstall it"
            )
            raise UsageError(msg) from error
        if not callable(opener):
            msg = f"provider {self.entry_point.name!r} of {self.told}: {self.entry_point.value} is no function"
            raise UsageError(msg)
        return opener  # type: ignore[no-any-return]  # what it takes and returns shows when it is called


@cache
def installed_providers() -> dict[str, tuple[InstalledProvider, ...]]:
    """Return the providers by name; nothing of them is imported yet."""
    found: dict[str, tuple[InstalledProvider, ...]] = {}
    for point in entry_points(group=GROUP):
        found[point.name] = (*found.get(point.name, ()), InstalledProvider(point))
    return found


def installed_provider(name: str) -> InstalledProvider:
    """Return the one provider called `name`; UsageError when two distributions claim the name."""
    provider, *others = installed_providers()[name]
    if others:
        msg = f"provider {name!r} is claimed by {provider.told} and {others[0].told}; uninstall one of them"
        raise UsageError(msg)
    return provider
