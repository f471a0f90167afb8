"""The options of a session on the command line ``llmeval``: declared and resolved as pytest's."""

from __future__ import annotations

import argparse
from functools import cached_property
from pathlib import Path

from pytest_llmeval.commands.console import shortest
from pytest_llmeval.session.ini import Ini, find_ini
from pytest_llmeval.session.options import Option, argparse_arguments, options_called
from pytest_llmeval.session.resolve import resolve
from pytest_llmeval.session.settings import Settings

REPORTS = "reports"
"""The folder of runs where no option, variable or ini key names one."""


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add some of the session's options, as ``--NAME`` for ``--llmeval-NAME``."""
    for option in options_called(names):
        parser.add_argument(f"--{option.name}", **argparse_arguments(option))


def settings_of(chosen: argparse.Namespace) -> Settings:
    """Return the settings by the command line, the variables and the project's ini keys."""
    return resolve(_Arguments(chosen))


def reports_of(settings: Settings) -> Path:
    """Return the folder of runs: the one that the settings name, else REPORTS."""
    return shortest(Path(settings.report or REPORTS))


class _Arguments:
    """A parsed command line as the source of the options."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self._chosen = chosen

    @property
    def folder(self) -> Path:
        return Path.cwd()

    @property
    def root(self) -> Path:
        return self._ini.root

    def typed(self, option: Option) -> object:
        return getattr(self._chosen, option.key, None)

    def ini(self, option: Option) -> str:
        return self._ini.keys.get(option.key, "")

    @cached_property
    def _ini(self) -> Ini:
        return find_ini(Path.cwd())
