"""Options outside of pytest: the typed ones, and the ini keys of the project around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pytest_llmeval.session.ini import Ini, find_ini
from pytest_llmeval.session.options import Option


@dataclass(frozen=True)
class ProjectOptions:
    """The source of options (`resolve.OptionSource`) in the current folder.

    Attributes:
        values: the typed values by `Option.key`.
    """

    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The current folder."""
        return Path.cwd()

    @property
    def root(self) -> Path:
        """The folder of the ini file."""
        return self._ini.root

    def typed(self, option: Option) -> object:
        """Return the typed value."""
        return self.values.get(option.key)

    def ini(self, option: Option) -> str:
        """Return the value in the ini file; "" for none."""
        return self._ini.keys.get(option.key, "")

    @cached_property
    def _ini(self) -> Ini:
        return find_ini(Path.cwd())
