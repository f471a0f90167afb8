"""The plugin's state in one pytest process.

The only place of the plugin that loads anything heavy, and not before the first test of ours: it is
imported in every pytest session.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.errors import LLMEvalError, UsageError
from pytest_llmeval.session.options import (
    GROUPS,
    Option,
    all_options,
    argparse_arguments,
    resolve,
)
from pytest_llmeval.session.settings import Settings

if TYPE_CHECKING:
    from pytest_llmeval.engine.link import Channel
    from pytest_llmeval.plugin.process import Process
    from pytest_llmeval.session.main_session import MainSession

ASSERTIONS = "pytest_llmeval.scoring.assertions"
"""The module of the assertions; a test that imported it may record scores."""

FIXTURES = frozenset({"sample", "completion", "judge", "llm"})


class State:
    """Settings of the session, and its process's part of the run once that is needed."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options; pytest.UsageError when one is wrong."""
        self.config = config
        try:
            self.settings = resolve(_Options(config))
            if self._is_configured:
                self.process  # noqa: B018 - made now, so that what is wrong is told at once
        except LLMEvalError as error:
            raise pytest.UsageError(str(error)) from None

    @cached_property
    def process(self) -> Process:
        """This process's part of the run."""
        from pytest_llmeval.plugin.process import Process  # noqa: PLC0415 - as the module says

        return Process(self.config, self.settings)

    @property
    def active(self) -> bool:
        """Whether a test of ours was met."""
        return "process" in self.__dict__

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """Plan the selected items; pytest.UsageError for what is wrong with them."""
        try:
            self.process.collected(items)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None

    @property
    def main(self) -> MainSession:
        """The run of the main process."""
        main = self.process.main
        assert main is not None  # noqa: S101 - the hooks of workers ask for none
        return main

    def receive(self, worker: str, channel: Channel, item: str) -> None:
        """Take what a worker sends, in execnet's thread."""
        self.main.controller_link.receive(worker, channel, item)

    def check_workers(self) -> None:
        """Refuse a plan that cannot be run, or not by ``--dist each``; pytest.UsageError."""
        try:
            self.process.check()
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        if self.main.plan.tests and self.config.getoption("dist", "no") == "each":
            msg = "--dist each would pay for every sample once per worker; use another --dist"
            raise pytest.UsageError(msg)

    def concerns(self, item: pytest.Item) -> bool:
        """Whether an item may use the run: by its fixtures, or by an assertion."""
        names = getattr(item, "fixturenames", ())
        return self.active or ASSERTIONS in sys.modules or not FIXTURES.isdisjoint(names)

    @property
    def _is_configured(self) -> bool:
        """Whether an option beyond the places of files is given."""
        places = {"report": self.settings.report, "folder": self.settings.folder}
        return self.settings != Settings(**places)  # type: ignore[arg-type]  # both are texts


class _Options:
    """Pytest's configuration as the source of the options."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @property
    def folder(self) -> Path:
        return self._config.invocation_params.dir

    @property
    def root(self) -> Path:
        return self._config.rootpath

    def typed(self, option: Option) -> object:
        return self._config.getoption(option.key)

    def ini(self, option: Option) -> str:
        return str(self._config.getini(option.key) or "")


def add_options(parser: pytest.Parser) -> None:
    """Register every option and its ini key."""
    groups = {name: parser.getgroup(f"llmeval-{name}", text) for name, text in GROUPS.items()}
    for option in all_options():
        groups[option.group].addoption(option.flag, **argparse_arguments(option))
        parser.addini(option.key, f"default of {option.flag}", type="string", default=None)


STATE = pytest.StashKey[State]()
