"""The main process's side of a run: engine, rows, files.

It is the xdist controller, or the only process.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import UsageError
from pytest_llmeval.plugin.interruption import SigtermAsCtrlC
from pytest_llmeval.plugin.progress import ProgressLine
from pytest_llmeval.plugin.recorder import CRASHED, Recorder
from pytest_llmeval.records import Json, RowKey, Transcript
from pytest_llmeval.session.files import SessionFiles
from pytest_llmeval.session.plan_check import (
    check_models,
    check_plan,
    check_report_folder,
    missing_judge,
)
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.task_info import task_info
from pytest_llmeval.task.catalog import Catalog

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.engine.engine import Engine
    from pytest_llmeval.engine.link import Channel, ControllerLink, DirectLink
    from pytest_llmeval.engine.run import Run
    from pytest_llmeval.results.store import StoredRun
    from pytest_llmeval.results.summary import Calibrated
    from pytest_llmeval.session.conclusion import Conclusion
    from pytest_llmeval.session.yardstick import Yardstick

GRACE = 30.0
"""Seconds at most that the end of a run waits for replies under way: they are paid, and a resumed
run finds them."""

HASTY_GRACE = 0.5
"""The same after Ctrl-C, and at -x: what has come by then is kept."""


class MainSide:
    """Holds the plan and the rows; opens engine and run folder when they are first needed."""

    def __init__(self, config: pytest.Config, settings: Settings, catalog: Catalog) -> None:
        """Hold nothing yet.

        UsageError when the gate's file or a judge's calibration is wrong, or the run to resume is
        not there: better now than after it is paid.
        """
        self._yardstick = _load_yardstick(settings)
        self._calibrations = _load_calibrations(settings)
        self._replayed = _replayed_run(settings)
        self._files = SessionFiles(settings, self._run_info)
        self._config, self._settings, self._catalog = config, settings, catalog
        self.plan = Plan(tests=(), tasks=())
        self._sigterm = SigtermAsCtrlC()
        self._checked = False
        self.recorder = Recorder(catalog, self._files.folder, self._files.earlier)

    @cached_property
    def engine(self) -> Engine:
        """The engine; its thread starts with the first wish."""
        from pytest_llmeval.engine.engine import Engine  # noqa: PLC0415 - asyncio, for sessions that ask

        return Engine(self._open_run)

    @cached_property
    def link(self) -> DirectLink:
        """The way to the engine from this process's own tests."""
        from pytest_llmeval.engine.link import DirectLink  # noqa: PLC0415 - as above

        return DirectLink(self.engine, while_waiting=self._show_in_a_test)

    @cached_property
    def controller_link(self) -> ControllerLink:
        """The engine's end of the workers' channels."""
        from pytest_llmeval.engine.link import ControllerLink  # noqa: PLC0415 - as above

        return ControllerLink(self.engine, self.take_plan)

    def collected(self, plan: Plan) -> None:
        """Take this process's own plan; pytest.UsageError when it cannot be run."""
        self.plan = plan
        self.check()

    def take_plan(self, plan: Plan) -> None:
        """Take the first worker's plan (in execnet's thread, which `check` must wait to leave)."""
        self.plan = plan

    def check(self) -> None:
        """Refuse a plan that cannot be run, with pytest.UsageError."""
        if self.plan.tasks and not self._checked:
            self._checked = True  # xdist's controller asks once per worker
            check_plan(self.plan, self._settings, self._catalog)
            check_report_folder(self._settings)
            asks_nobody = self._replayed is not None or self._settings.estimate
            if not (
                asks_nobody or self._config.option.collectonly or self._config.option.setupplan
            ):
                check_models(self.plan, self._settings, self._catalog)
            if remark := missing_judge(self.plan, self._settings, self._catalog):
                self._progress.tell(remark)
            self._sigterm.install()

    def tell_estimate(self, config: pytest.Config) -> bool:
        """Write what the plan would ask and cost, if that is asked for, and tell whether it was."""
        if not self._settings.estimate:
            return False
        from pytest_llmeval.session.estimate import estimate_lines  # noqa: PLC0415 - prompts are rendered with jinja2

        reporter = config.pluginmanager.getplugin("terminalreporter")
        for line in estimate_lines(self.plan, self._settings, self._catalog) or [
            "nothing to estimate"
        ]:
            reporter.write_line(f"estimate: {line}")
        return True

    def listen(self, worker: str, channel: Channel) -> None:
        """Serve a worker's channel."""
        self.controller_link.listen(worker, channel)

    def report(self, report: pytest.TestReport) -> None:
        """Take the row off a test's report; a test over which a worker died is not run again.

        By file or scope xdist hands it to worker after worker, until it gives up and the tests
        behind it are lost. Who retries it on purpose (pytest-rerunfailures) makes the report
        another than a failed one.
        """
        self.recorder.take(report, self.plan)
        if self.died_over(report) and report.failed:
            self.controller_link.refuse(report.nodeid, f"not run again: {report.longrepr}")

    def died_over(self, report: pytest.TestReport) -> bool:
        """Tell whether a report is xdist's, of a planned test whose worker died."""
        return str(report.when) == CRASHED and report.nodeid in self.plan.index

    def over(self, nodeid: str) -> None:
        """Note that a test is over."""
        if self.plan.tests:
            self.engine.discard(nodeid)

    def close(self, reason: str, *, in_haste: bool) -> None:
        """Stop the engine, with time for the replies under way: less of it if somebody is waiting for the end."""
        if "engine" in self.__dict__:
            grace = HASTY_GRACE if in_haste else GRACE
            if not in_haste and (gauge := self.engine.gauge) is not None and gauge.in_flight:
                waits = f"waiting up to {grace:g} s for {gauge.in_flight} replies under way, which are paid"
                self._progress.tell(f"{waits}; Ctrl-C leaves them")
                self._progress.flush()
            try:
                self.engine.stop(reason, grace=grace)
            except OSError as error:
                # A recording that cannot be written must not cost the table.
                self._progress.tell(f"while closing: {error}")
        self._sigterm.restore()

    def conclude(self) -> Conclusion | None:
        """Account for every planned sample, write the summary and close the files; None when nothing was planned.

        A session that only lists tests, or ends before the first test asks, has no rows and leaves
        no files.
        """
        if not self.plan.tests or not (self.engine.started or self.recorder.reported):
            self._files.close()
            return None
        from pytest_llmeval.session.conclusion import Measures, conclude  # noqa: PLC0415 - rich and jinja2, for runs

        self.recorder.complete(self.plan)
        tasks = {
            loaded.task.name: task_info(loaded, self._calibrations)
            for loaded in self._catalog.loaded.values()
        }
        measures = Measures(yardstick=self._yardstick, replayed=self._replayed)
        try:
            conclusion = conclude(
                self.recorder.rows, tasks, measures, self._files.folder(), self.engine.effort
            )
        except (OSError, UsageError):
            # Whatever the files came to, the table is still printed.
            conclusion = conclude(self.recorder.rows, tasks, measures, None, self.engine.effort)
        if self.recorder.trouble:
            self._progress.tell(f"not all of the run could be written: {self.recorder.trouble}")
        self._progress.flush()
        self._files.close()
        return conclusion

    def _open_run(self) -> Run:
        from pytest_llmeval.session.composition import Surroundings, open_run  # noqa: PLC0415 - all of the engine

        return open_run(
            self._settings,
            self._catalog,
            self.plan,
            Surroundings(
                folder=self._files.data_folder(),
                started=self._files.started,
                keep_transcript=self._keep_transcript,
                tell=self._progress.tell,
                replayed=self._replayed,
                stops_early=bool(
                    self._config.getoption("maxfail", 0)
                    or self._config.getoption("stepwise", False)
                ),
            ),
        )

    def _run_info(self) -> dict[str, Json]:
        from pytest_llmeval.session.run_info import run_info  # noqa: PLC0415 - runs git

        return run_info(
            self._settings, self._catalog, self.plan, self._config.rootpath, self._calibrations
        )

    def _keep_transcript(self, key: RowKey, transcript: Transcript) -> None:
        if (folder := self._files.folder()) is not None:
            folder.add_transcript(key, transcript)

    def show_progress(self) -> None:
        """Write a line on how far the run is, now and then."""
        if self.plan.tests and (gauge := self.engine.gauge) is not None:
            self._progress.show(self.recorder.reported, len(self.plan.tests), gauge)

    def _show_in_a_test(self) -> None:
        """Write how far the run is while the only process waits in the middle of a test, past pytest's capture."""
        capture = self._config.pluginmanager.getplugin("capturemanager")
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            self.show_progress()

    @cached_property
    def _progress(self) -> ProgressLine:
        return ProgressLine(self._config.pluginmanager.getplugin("terminalreporter"))


def _load_yardstick(settings: Settings) -> Yardstick | None:
    if settings.gate is None and settings.baseline is None:
        return None
    from pytest_llmeval.session.yardstick import load_yardstick  # noqa: PLC0415 - yaml and numpy, for who asks

    gate, baseline = (
        None if name is None else Path(name) for name in (settings.gate, settings.baseline)
    )
    return load_yardstick(gate, baseline)


def _load_calibrations(settings: Settings) -> tuple[Calibrated, ...]:
    """Return the calibrations of judges, which lie beside the runs."""
    folder = Path(settings.report or "") / "calibrations"
    if settings.report is None or not folder.is_dir():
        return ()
    from pytest_llmeval.session.calibrations import read_calibrations  # noqa: PLC0415 - for sessions that have some

    return read_calibrations(folder)


def _replayed_run(settings: Settings) -> StoredRun | None:
    if settings.replay_run is None:
        return None
    from pytest_llmeval.session.replaying import replayed_run  # noqa: PLC0415 - for sessions that score again

    return replayed_run(settings)
