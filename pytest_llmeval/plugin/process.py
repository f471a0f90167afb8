"""The plugin's part in one pytest process: items become a plan, and their ends become rows."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.engine.link import Link, WorkerLink
from pytest_llmeval.engine.specs import parse_specs
from pytest_llmeval.errors import ModelLost, RunStopped
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.plugin.bodies import Bodies
from pytest_llmeval.plugin.channel import CHANNEL, HANDLES_CTRL_C, IS_FIRST
from pytest_llmeval.plugin.coroutines import runs_here
from pytest_llmeval.plugin.garbage import set_aside
from pytest_llmeval.plugin.interruption import Interruption
from pytest_llmeval.plugin.main_process import MainProcess
from pytest_llmeval.plugin.parameters import mistake_of, parameters_of, uses_run, waits
from pytest_llmeval.plugin.parametrize import (
    free_waits_from_timeout,
    parametrize,
    plan_of,
    planned,
    skip_without_model,
    tag_keywords,
    without_model,
)
from pytest_llmeval.plugin.printed import clean_report, leave_out_hint
from pytest_llmeval.plugin.printed_logs import clean_logs
from pytest_llmeval.plugin.reporting import attach_row
from pytest_llmeval.scoring.running import RUNNING
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.ending import finish
from pytest_llmeval.session.places import rescored_place, with_fixed_places
from pytest_llmeval.session.plan_check import check_settings
from pytest_llmeval.session.resolve import limit_parts
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import as_asked
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.workers.remote_session import ROOTS, moved

ATTEMPT = pytest.StashKey[Attempt]()
"""The attempt at an item, from its set-up to its tear-down."""


class Process:
    """The xdist controller, an xdist worker, or the only process.

    Attributes:
        settings: the session's settings.
        catalog: the tasks.
        main: the part of the main process; None in a worker.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        """Check the options.

        Raises:
            UsageError: an option is invalid.
        """
        asked = as_asked(settings, rescored_place(settings))
        self.settings = settings = with_fixed_places(asked)
        check_settings(settings)
        specs = parse_specs(settings.models, folder=Path(settings.folder))
        self._models = [spec.label for spec in specs]
        self._config = config
        self._mistaken: dict[pytest.Item, str] = {}
        self._tellers: dict[str, str] = {}
        limit, seed = (None, None) if settings.limit is None else limit_parts(settings.limit)
        self.catalog = Catalog(
            folder=Path(settings.folder),
            overrides=settings.overrides,
            limit=limit,
            seed=seed,
        )
        is_worker = hasattr(config, "workerinput")
        self.main = None if is_worker else MainProcess(config, settings, self.catalog)
        if is_worker and self._worker_input[HANDLES_CTRL_C]:
            _handle_ctrl_c(config)

    @cached_property
    def link(self) -> Link:
        """The connection from this process's tests to the engine."""
        return self._worker_link if self.main is None else self.main.session.link

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Parametrize a marked test function by its samples."""
        parametrize(metafunc, self.settings, self.catalog, self._models)

    def prepare(self, items: Sequence[pytest.Item]) -> None:
        """Add keywords for selection, and marks for pytest-timeout, to the items."""
        tag_keywords(items, self.catalog)
        if self._config.pluginmanager.hasplugin("timeout"):
            free_waits_from_timeout(items)

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """Plan the selected items, which a worker sends to the controller; clean logs from now on.

        Raises:
            UsageError: the plan cannot be run.
        """
        # Not in `__init__`: pytest's plugin for logs is registered later.
        clean_logs(self._config, Redactor.of(os.environ))
        for item in items:
            if (problem := mistake_of(item)) is not None:
                self._mistaken[item] = problem
                self._tellers.setdefault(problem, item.nodeid)
        skip_without_model(items, self.catalog)
        plan = plan_of(items, self.catalog)
        if self.main is not None:
            self.main.session.take_plan(plan)
            self.main.check()
        elif plan.tasks:
            if (roots := self._worker_input.get(ROOTS)) is not None:
                here, there = roots
                plan = plan.with_files(lambda file: moved(file, there, here))
            self._worker_link.announce(plan, whole=bool(self._worker_input[IS_FIRST]))
            set_aside()

    def begin(self, item: pytest.Item) -> None:
        """Begin an attempt at a test, and make it the one that assertions record scores with.

        A test that cannot be run fails, or is skipped if another one reports the same mistake.
        """
        if (problem := self._mistaken.get(item)) is not None:
            if (teller := self._tellers[problem]) != item.nodeid:
                pytest.skip(f"its task cannot be run; {teller} says why")
            pytest.fail(problem, pytrace=False)
        attempt = self.bodies.taken(item) or self._new_attempt(item)
        item.stash[ATTEMPT] = attempt
        RUNNING.set(attempt)

    def _new_attempt(self, item: pytest.Item) -> Attempt:
        attempt = Attempt(item.nodeid, lambda: self.link)
        if (made_for := parameters_of(item)) is not None:
            loaded = self.catalog.load(made_for.file)
            attempt.loaded, attempt.sample = loaded, loaded.by_id[made_for.sample]
        if waits(item) and without_model(item, self.catalog) is None:
            attempt.planned = planned(item, self.catalog)
        return attempt

    @cached_property
    def bodies(self) -> Bodies:
        """The tests of this process that are coroutines."""
        traced = self._config.getoption("trace")
        return Bodies(
            self._new_attempt,
            most=0 if traced else self.settings.concurrency,
        )

    def run_coroutine(self, item: pytest.Function) -> bool:
        """Run a test's body if it is a coroutine that no other plugin runs; return whether."""
        __tracebackhide__ = True
        if not runs_here(item):
            return False
        self.bodies.run(item, self.attempt(item))
        return True

    def attempt(self, item: pytest.Item) -> Attempt:
        """Return the last attempt at an item."""
        return item.stash[ATTEMPT]

    def body(self, item: pytest.Item) -> Generator[None, object, object]:
        """Wrap the call of a test's body, so that its end follows its scores (see `finish`).

        The test is skipped if a request of its body ends by RunStopped or ModelLost.
        """
        __tracebackhide__ = True
        attempt = item.stash.get(ATTEMPT, None)
        try:
            result = yield
        except RunStopped as stopped:
            pytest.skip(f"run stopped: {stopped}")
        except ModelLost as lost:
            pytest.skip(str(lost))
        except Exception as error:
            if attempt is not None:
                finish(attempt, error)
            raise
        if attempt is not None:
            finish(attempt, None)
        return result

    def end(self) -> None:
        """End the attempt, so that assertions no longer record scores with it."""
        self.bodies.over()
        RUNNING.set(None)

    def attach(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
    ) -> None:
        """Attach the sample's row to the report that decides its outcome, and clean the report.

        Reports of tests that have nothing to do with this plugin stay as they are. With the last
        report the item, which pytest keeps until the end of the session, lets go of the attempt
        and its texts.
        """
        attempt = item.stash.get(ATTEMPT, None)
        if attempt is not None and call.when == "teardown":
            del item.stash[ATTEMPT]
        if attempt is None or not (attempt.planned or uses_run(item) or attempt.scores):
            return
        report.llmeval_ours = True  # type: ignore[attr-defined]  # plugins may set attributes
        leave_out_hint(call, report)
        if attempt.planned is None:
            clean_report(self._config, report)
            return
        gating, travels = self.settings.gate is not None, self.main is None
        if attach_row(report, call, attempt, item.path, gating=gating, travels=travels):
            # junitxml reads the properties of the tear-down's report, which come from the item.
            item.user_properties[:] = report.user_properties
        clean_report(self._config, report)

    @cached_property
    def _worker_link(self) -> WorkerLink:
        return WorkerLink(self._worker_input[CHANNEL])

    @property
    def _worker_input(self) -> dict[str, Any]:
        """What the controller passes to this worker."""
        found: dict[str, Any] = self._config.workerinput  # type: ignore[attr-defined]  # by xdist
        return found


def _handle_ctrl_c(config: pytest.Config) -> None:
    """Let the first Ctrl-C end a worker's tests, and further ones do nothing."""
    interruption = Interruption()

    class Ending:
        @pytest.hookimpl(tryfirst=True)
        def pytest_keyboard_interrupt(self) -> None:
            interruption.ending()

        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionfinish(self) -> None:
            interruption.ending()

    interruption.install(ignored=True)
    config.pluginmanager.register(Ending(), "llmeval-ctrl-c")
    config.add_cleanup(interruption.restore)
