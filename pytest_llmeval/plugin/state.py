"""The plugin's state in one pytest process.

It is imported in every pytest session. It imports the rest of the package (`plugin.process`) when
the first test with a sample is collected.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.errors import LLMEvalError, UsageError
from pytest_llmeval.plugin.garbage import collect_seldom
from pytest_llmeval.plugin.parameters import uses_run
from pytest_llmeval.plugin.plain_imports import import_plainly
from pytest_llmeval.session.options import GROUPS, Option, all_options, argparse_arguments
from pytest_llmeval.session.resolve import resolve
from pytest_llmeval.session.settings import Settings

if TYPE_CHECKING:
    from pytest_llmeval.engine.link import Channel
    from pytest_llmeval.plugin.main_process import MainProcess
    from pytest_llmeval.plugin.process import Process

ASSERTIONS = "pytest_llmeval.scoring.assertions"
"""The module of the assertions; once it is imported, any test may record scores."""


class State:
    """The settings of the session, and the process's part in the run on first use.

    Attributes:
        config: pytest's configuration.
        settings: the session's settings.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Read the options; pytest.UsageError when one is invalid."""
        self.config = config
        try:
            self.settings = resolve(_Options(config))
            if self._is_configured:
                self.process  # noqa: B018 - made now, so that errors are reported before collection
        except LLMEvalError as error:
            raise pytest.UsageError(str(error)) from None

    @cached_property
    def process(self) -> Process:
        """This process's part in the run; from now on Python looks for garbage less often."""
        # Before the imports, which make many objects, of many modules.
        self.config.add_cleanup(collect_seldom())
        self.config.add_cleanup(import_plainly())
        from pytest_llmeval.plugin.process import Process  # noqa: PLC0415 - see the module

        return Process(self.config, self.settings)

    @property
    def active(self) -> bool:
        """Whether `process` was made."""
        return "process" in self.__dict__

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """Plan the selected items; pytest.UsageError when they cannot be run."""
        try:
            self.process.collected(items)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None

    @property
    def main(self) -> MainProcess:
        """The part of the main process; must not be used in a worker."""
        main = self.process.main
        assert main is not None  # noqa: S101 - only the hooks of the main process use it
        return main

    def start_workers(self) -> None:
        """Have workers on other machines started, if any are asked for and tests will be run."""
        text = self.settings.workers
        if text is None or self.settings.estimate or self.config.option.collectonly:
            return
        from pytest_llmeval.plugin.workers_option import start_workers  # noqa: PLC0415 - as above
        from pytest_llmeval.workers.spec import parse_workers  # noqa: PLC0415 - as above

        try:
            spec = parse_workers(text, folder=Path(self.settings.folder))
            if spec is not None:
                start_workers(self.config, spec, self.main.keys)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None

    @property
    def handles_ctrl_c(self) -> bool:
        """Whether the main process handles Ctrl-C, and workers are to do so too."""
        return self.active and self.main.interruption.installed

    @property
    def has_plan(self) -> bool:
        """Whether a worker has sent what it collected."""
        return self.active and self.main.session.controller_link.has_plan

    def receive(self, worker: str, channel: Channel, item: str) -> None:
        """Process a frame from a worker; called in execnet's thread."""
        self.main.session.controller_link.receive(worker, channel, item)

    def check_workers(self) -> None:
        """Check the workers' plan.

        Raises:
            pytest.UsageError: it cannot be run, or the option is ``--dist each``.
        """
        try:
            self.main.check()
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        if self.main.session.plan.tests and self.config.getoption("dist", "no") == "each":
            msg = "--dist each would pay for every sample once per worker; use another --dist"
            raise pytest.UsageError(msg)

    def concerns(self, item: pytest.Item) -> bool:
        """Return whether an item may use the run, by its fixtures or by an assertion."""
        return self.active or ASSERTIONS in sys.modules or uses_run(item)

    @property
    def _is_configured(self) -> bool:
        """Whether an option is given, other than those that every session may have."""
        given = self.settings
        return given != Settings(report=given.report, folder=given.folder, progress=given.progress)


class _Options:
    """Pytest's configuration as an `OptionSource`."""

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
"""The key of the state in pytest's configuration."""
