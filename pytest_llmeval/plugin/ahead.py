"""Which tests come next in this process, and which bodies may begin ahead of their turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, Final

import pytest
from _pytest.nodes import Node

from pytest_llmeval.plugin.channel import KEEPS_TESTS
from pytest_llmeval.plugin.coroutines import runs_here
from pytest_llmeval.plugin.fixture_names import FIXTURES, OURS, PARAMETERS
from pytest_llmeval.plugin.parameters import mistake_of
from pytest_llmeval.plugin.parametrize import is_skipped

_INDIRECTLY: Final = "request"
"""The fixture that ours ask for; a test that asks itself could do anything by it."""

_DIRECT: Final = "get_direct_param_fixture_func"
"""The function by which pytest gives a test the arguments of a parametrize mark."""

_SETTLED = pytest.StashKey[bool]()
_PLACES = pytest.StashKey[dict[pytest.Item, int]]()


def following(item: pytest.Item, most: int) -> Iterator[pytest.Item]:
    """Yield the tests that come next in this process, in order and at most so many.

    A worker of xdist knows those that it was given. With ``--dist worksteal`` others may take them
    away again, all but the next one.
    """
    items, stash = item.session.items, item.session.stash
    if not hasattr(item.config, "workerinput"):
        if _PLACES not in stash:
            stash[_PLACES] = {test: place for place, test in enumerate(items)}
        start = stash[_PLACES][item] + 1
        yield from islice(items, start, start + most)
        return
    for plugin in item.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            indices = [getattr(plugin, "nextitem_index", None)]
            if item.config.workerinput[KEEPS_TESTS] and hasattr(plugin, "torun"):
                with plugin.torun.lock() as queue:
                    indices += islice(queue, most)
            yield from (items[index] for index in indices[:most] if isinstance(index, int))


def may_begin(item: pytest.Item) -> bool:
    """Return whether a test is a coroutine that runs here and that no mark treats differently.

    Its fixtures are another matter; see `arguments_ahead`.
    """
    if (settled := item.stash.get(_SETTLED, None)) is None:
        settled = item.stash[_SETTLED] = (
            runs_here(item)
            and mistake_of(item) is None
            and not is_skipped(item)
            and item.get_closest_marker("filterwarnings") is None
            and all(mark.kwargs.get("run", True) for mark in item.iter_markers("xfail"))
        )
    return settled


def arguments_ahead(item: pytest.Function, alive: AbstractSet[Node]) -> Mapping[str, object] | None:
    """Return the arguments of a test that are there before its turn, without this plugin's.

    Args:
        item: a test.
        alive: the nodes whose fixtures will live until the test's turn.

    Returns:
        The arguments of parametrize marks, and the values of fixtures of wider scopes that are set
        up. None if another fixture is to be set up for the test.
    """
    info = item._fixtureinfo  # noqa: SLF001 - pytest has no public way to a test's arguments
    found: dict[str, object] = {}
    for name in item.fixturenames:
        definitions = info.name2fixturedefs.get(name, ())
        last: Any = definitions[-1] if definitions else None
        if name in FIXTURES or name == PARAMETERS:
            if last is None or last.func.__module__ != OURS:
                return None
        elif name == _INDIRECTLY:
            if name in info.argnames:
                return None
        elif last is None or last.func.__name__ == _DIRECT:
            if name not in getattr(getattr(item, "callspec", None), "params", ()):
                return None
            found[name] = item.callspec.params[name]
        elif not _is_set_up(item, last, alive):
            return None
        else:
            found[name] = last.cached_result[0]
    return {name: found[name] for name in info.argnames if name in found}


def _is_set_up(item: pytest.Function, fixture: Any, alive: AbstractSet[Node]) -> bool:  # noqa: ANN401 - pytest's FixtureDef
    """Return whether a fixture has a value that will be the test's at its turn too."""
    scopes: dict[str, type[pytest.Collector]] = {
        "class": pytest.Class,
        "module": pytest.Module,
        "package": pytest.Package,
        "session": pytest.Session,
    }
    result = fixture.cached_result
    if fixture.scope not in scopes or fixture.params is not None:
        return False
    if fixture.argname in getattr(getattr(item, "callspec", None), "params", ()):
        return False
    return (
        result is not None and result[2] is None and item.getparent(scopes[fixture.scope]) in alive
    )
