"""One pytest process's part of a run: it turns items into a plan, and their reports into rows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import cast

import pytest
from _pytest.terminal import TerminalReporter

from pytest_llmeval.engine.link import Link, WorkerLink
from pytest_llmeval.engine.specs import parse_specs
from pytest_llmeval.errors import ModelLost, RunStopped
from pytest_llmeval.plugin.channel import CHANNEL, IS_FIRST
from pytest_llmeval.plugin.interruption import SigtermAsCtrlC
from pytest_llmeval.plugin.junit import add_to_junit
from pytest_llmeval.plugin.parameters import parameters_of, waits
from pytest_llmeval.plugin.parametrize import (
    free_waits_from_timeout,
    parametrize,
    plan_of,
    planned,
    tag_keywords,
)
from pytest_llmeval.plugin.progress import ProgressLine
from pytest_llmeval.plugin.reporting import attach_row
from pytest_llmeval.plugin.terminal import TerminalPage
from pytest_llmeval.records import Json, Row
from pytest_llmeval.scoring.assertions import RUNNING
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.conclusion import Conclusion
from pytest_llmeval.session.main_session import Host, MainSession
from pytest_llmeval.session.places import rescored_place, with_fixed_places
from pytest_llmeval.session.plan_check import check_settings
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import as_asked
from pytest_llmeval.task.catalog import Catalog

CRASHED = "???"
"""What xdist reports as the phase of a test whose worker died."""

ATTEMPT = pytest.StashKey[Attempt]()
"""The item's attempt that runs or ran last."""


class Process:
    """The xdist controller, an xdist worker, or the only process.

    `main` is None in a worker.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        """Prepare for the first test of ours; UsageError for what is wrong with the options."""
        asked = as_asked(settings, rescored_place(settings))
        self.settings = settings = with_fixed_places(asked)
        check_settings(settings)
        specs = parse_specs(settings.models, folder=Path(settings.folder))
        self._models = [spec.label for spec in specs]
        self._config = config
        self.catalog = Catalog(
            folder=Path(settings.folder), overrides=settings.overrides, limit=settings.limit
        )
        find = config.pluginmanager.getplugin
        self.progress = ProgressLine(lambda: find("terminalreporter"))
        self._sigterm = SigtermAsCtrlC()
        is_worker = hasattr(config, "workerinput")
        self.main = None if is_worker else MainSession(settings, self.catalog, self._host())

    @cached_property
    def link(self) -> Link:
        """The way to the engine from this process's tests."""
        return self._worker_link if self.main is None else self.main.link

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Give a marked test its samples."""
        parametrize(metafunc, self.settings, self.catalog, self._models)

    def prepare(self, items: Sequence[pytest.Item]) -> None:
        """Add to each item what selection and time-outs need."""
        tag_keywords(items, self.catalog)
        if self._config.pluginmanager.hasplugin("timeout"):
            free_waits_from_timeout(items)

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """Plan the selected items; a worker tells the controller, the first one the whole plan."""
        plan = plan_of(items, self.catalog)
        if self.main is not None:
            self.main.take_plan(plan)
            self.check()
        elif plan.tasks:
            first = bool(self._config.workerinput[IS_FIRST])  # type: ignore[attr-defined]  # xdist's
            self._worker_link.announce(plan, whole=first)

    def check(self) -> None:
        """Refuse a plan that cannot be run, with a UsageError."""
        option = self._config.option
        sends = not (option.collectonly or option.setupplan)
        if self.main is not None and self.main.check(sends=sends):
            self._sigterm.install()

    def begin(self, item: pytest.Item) -> None:
        """Start an attempt at a test, where assertions find it."""
        attempt = Attempt(item.nodeid, lambda: self.link)
        if (case := parameters_of(item)) is not None:
            loaded = self.catalog.load(case.file)
            attempt.loaded, attempt.sample = loaded, loaded.by_id[case.sample]
        if waits(item):
            attempt.planned = planned(item, self.catalog)
        item.stash[ATTEMPT] = attempt
        RUNNING.set(attempt)

    def attempt(self, item: pytest.Item) -> Attempt:
        """Return the item's attempt."""
        return item.stash[ATTEMPT]

    def body(self, item: pytest.Item) -> Generator[None, object, object]:
        """Run a test's body around the yield, and let its end follow its scores.

        A request of the body that nothing can answer any more skips the test.
        """
        __tracebackhide__ = True
        attempt = item.stash.get(ATTEMPT, None)
        try:
            result = yield
        except RunStopped as stopped:
            pytest.skip(f"run stopped: {stopped}")
        except ModelLost as lost:
            pytest.skip(f"its model is lost: {lost}")
        except Exception as error:
            if attempt is not None:
                attempt.finish(error)
            raise
        if attempt is not None:
            attempt.finish(None)
        return result

    def end(self) -> None:
        """End the attempt."""
        RUNNING.set(None)

    def attach(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
    ) -> None:
        """Put the sample's row on a report."""
        attempt = item.stash.get(ATTEMPT, None)
        if attempt is None or attempt.planned is None:
            return
        gating, travels = self.settings.gate is not None, self.main is None
        if attach_row(report, call, attempt, gating=gating, travels=travels):
            # The item's too: junitxml reads those of the tear-down's report, made from it.
            item.user_properties[:] = report.user_properties

    def report(self, report: pytest.TestReport) -> None:
        """Keep the row of a test's report; a test over which a worker died is not run again.

        By file or scope xdist hands it to worker after worker, until it gives up and the tests
        behind it are lost. A rerun on purpose (pytest-rerunfailures) is no failed report.
        """
        main = cast("MainSession", self.main)
        row: Row | Json = getattr(report, "llmeval", None)
        if row is not None:
            main.rows.add(row if isinstance(row, Row) else Row.from_json(row))
        elif self.died_over(report):
            test = main.plan.tests[main.plan.index[report.nodeid]]
            main.rows.add_unreported(test, "error", str(report.longrepr))
        if self.died_over(report) and report.failed:
            reason = f"not run again: {report.longrepr}"
            main.controller_link.refuse(report.nodeid, reason)

    def died_over(self, report: pytest.TestReport) -> bool:
        """Whether a report is xdist's, of a planned test whose worker died."""
        main = cast("MainSession", self.main)
        return str(report.when) == CRASHED and report.nodeid in main.plan.index

    def over(self, nodeid: str) -> None:
        """Note that a test is over, and show progress."""
        cast("MainSession", self.main).over(nodeid)
        self._show_progress()

    def close(self, reason: str, *, in_haste: bool) -> None:
        """Stop the engine."""
        cast("MainSession", self.main).close(reason, in_haste=in_haste)
        self.progress.flush()
        self._sigterm.restore()

    def conclude(self) -> Conclusion | None:
        """Return the conclusion of the run; None when nothing was planned or asked."""
        conclusion = cast("MainSession", self.main).conclude()
        self.progress.flush()
        if conclusion is not None and conclusion.gate is not None:
            add_to_junit(self._config, conclusion.gate)
        return conclusion

    def print(self, conclusion: Conclusion, reporter: TerminalReporter) -> None:
        """Write the conclusion to the terminal."""
        conclusion.print(TerminalPage(reporter))

    def _show_progress(self) -> None:
        """Write a line on how far the run is, now and then."""
        main = cast("MainSession", self.main)
        if main.plan.tests and (gauge := main.engine.gauge) is not None:
            self.progress.show(main.rows.reported, len(main.plan.tests), gauge)

    def _show_in_a_test(self) -> None:
        """Write progress past pytest's capture, while the only process waits inside a test."""
        capture = self._config.pluginmanager.getplugin("capturemanager")
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            self._show_progress()

    def _host(self) -> Host:
        option = self._config.getoption
        return Host(
            tell=self.progress.tell,
            flush=self.progress.flush,
            while_waiting=self._show_in_a_test,
            root=self._config.rootpath,
            stops_early=bool(option("maxfail", 0) or option("stepwise", False)),
        )

    @cached_property
    def _worker_link(self) -> WorkerLink:
        return WorkerLink(self._config.workerinput[CHANNEL])  # type: ignore[attr-defined]  # xdist's
