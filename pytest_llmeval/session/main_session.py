"""A run in the process that the user started: engine, rows and files. It knows no pytest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pytest_llmeval.engine.engine import Engine
from pytest_llmeval.engine.link import ControllerLink, DirectLink
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.replies.place import REUSE
from pytest_llmeval.engine.run import Run
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, RowKey, Transcript
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.session.calibrations import stored_calibrations
from pytest_llmeval.session.composition import RunPlace, open_run
from pytest_llmeval.session.conclusion import Conclusion, Measures, conclude
from pytest_llmeval.session.estimate import estimate_lines
from pytest_llmeval.session.files import SessionFiles
from pytest_llmeval.session.places import rescored_place
from pytest_llmeval.session.plan_check import (
    check_models,
    check_plan,
    check_report_folder,
    missing_judge,
)
from pytest_llmeval.session.row_log import RowLog
from pytest_llmeval.session.run_info import run_info
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import stored_run
from pytest_llmeval.session.task_info import known_task
from pytest_llmeval.session.undeclared import undeclared_remarks
from pytest_llmeval.session.yardstick import yardstick_of
from pytest_llmeval.task.catalog import Catalog

GRACE = 30.0
"""Seconds at most that the end of a run waits for replies under way: they are paid, and a resumed
run finds them."""

HASTY_GRACE = 0.5
"""The same after Ctrl-C, and at -x: what has come by then is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a run needs of the program that it runs in.

    `tell` keeps a line for the user, from any thread, and `flush` shows the kept ones, from the
    main thread; `while_waiting` is called now and then while
    the only process waits for a reply; `root` is the folder whose git state is stored;
    `stops_early`: the first failure may end the session, so less is asked ahead.
    """

    tell: Callable[[str], None]
    flush: Callable[[], None]
    while_waiting: Callable[[], None]
    root: Path
    stops_early: bool


class MainSession:
    """Holds the plan and the rows; opens engine and run folder when they are first needed."""

    def __init__(self, settings: Settings, catalog: Catalog, host: Host) -> None:
        """Open nothing yet.

        Raises:
            UsageError: the gate's file or a judge's calibration is wrong, or the run to resume is
                not there; found now, because later the run is paid.
        """
        self._yardstick = yardstick_of(settings)
        self._calibrations = stored_calibrations(settings.report)
        place = rescored_place(settings)
        self._rescored: StoredRun | None = None if place is None else stored_run(REUSE, place)
        self._files = SessionFiles(settings, self._run_info)
        self._settings, self._catalog, self._host = settings, catalog, host
        self.plan = Plan(tests=(), tasks=())
        self._checked = False
        self.rows = RowLog(catalog, self._files.folder, self._files.earlier)

    @cached_property
    def engine(self) -> Engine:
        """The engine; its thread starts with the first wish."""
        return Engine(self._open_run)

    @cached_property
    def link(self) -> DirectLink:
        """The way to the engine from this process's own tests."""
        return DirectLink(self.engine, while_waiting=self._host.while_waiting)

    @cached_property
    def controller_link(self) -> ControllerLink:
        """The engine's end of the workers' channels."""
        return ControllerLink(self.engine, self.take_plan)

    def take_plan(self, plan: Plan) -> None:
        """Take the plan: this process's own, or in execnet's thread the first worker's."""
        self.plan = plan

    def check(self, *, sends: bool) -> bool:
        """Refuse a plan that cannot be run; return whether this was the first check of it.

        Args:
            sends: whether models will be asked, so that keys and addresses are needed.

        Raises:
            UsageError: with the option or the file to correct.
        """
        if not self.plan.tasks or self._checked:
            return False
        self._checked = True
        check_plan(self.plan, self._settings, self._catalog)
        check_report_folder(self._settings)
        if sends and self._rescored is None and not self._settings.estimate:
            check_models(self.plan, self._settings, self._catalog)
        if remark := missing_judge(self.plan, self._settings, self._catalog):
            self._host.tell(remark)
        return True

    def estimate(self) -> list[str]:
        """Return what the plan would ask and cost, a line for each task and model."""
        lines = estimate_lines(self.plan, self._settings, self._catalog)
        return lines or ["nothing to estimate"]

    def over(self, nodeid: str) -> None:
        """Note that a test is over."""
        if self.plan.tests:
            self.engine.discard(nodeid)

    def close(self, reason: str, *, in_haste: bool) -> None:
        """Stop the engine; replies under way have time to come, little of it `in_haste`."""
        if "engine" not in self.__dict__:
            return
        grace = HASTY_GRACE if in_haste else GRACE
        if not in_haste and (gauge := self.engine.gauge) is not None and gauge.in_flight:
            waits = f"waiting up to {grace:g} s for {gauge.in_flight} replies under way"
            self._host.tell(f"{waits}, which are paid; Ctrl-C leaves them")
            self._host.flush()
        try:
            self.engine.stop(reason, grace=grace)
        except OSError as error:
            # A recording that cannot be written must not cost the table.
            self._host.tell(f"while closing: {error}")

    def conclude(self) -> Conclusion | None:
        """Account for every planned sample, write the summary and close the files.

        Returns:
            None when nothing was planned, when the session only listed tests, or when it ended
            before the first test asked; such a session leaves no files.
        """
        if not self.plan.tests or not (self.engine.started or self.rows.reported):
            self._files.close()
            return None
        self.rows.complete(self.plan)
        tasks = {
            loaded.task.name: known_task(loaded, self._calibrations)
            for loaded in self._catalog.loaded.values()
        }
        measures = Measures(yardstick=self._yardstick, replayed=self._rescored)
        rows, effort = self.rows.rows, self.engine.effort
        try:
            conclusion = conclude(rows, tasks, measures, self._files.folder(), effort)
        except (OSError, UsageError):
            # Whatever became of the files, the table is printed.
            conclusion = conclude(rows, tasks, measures, None, effort)
        if self.rows.trouble:
            self._host.tell(f"not all of the run could be written: {self.rows.trouble}")
        self._files.close()
        by_name = {one.task.name: one for one in self._catalog.loaded.values()}
        remarks = undeclared_remarks(rows, by_name)
        return replace(conclusion, trouble=(*conclusion.trouble, *remarks))

    def _open_run(self) -> Run:
        place = RunPlace(
            folder=self._files.data_folder(),
            started=self._files.started,
            keep_transcript=self._keep_transcript,
            tell=self._host.tell,
            stops_early=self._host.stops_early,
        )
        return open_run(self._settings, self._catalog, self.plan, place)

    def _run_info(self) -> dict[str, Json]:
        return run_info(
            self._settings, self._catalog, self.plan, self._host.root, self._calibrations
        )

    def _keep_transcript(self, key: RowKey, transcript: Transcript) -> None:
        if (folder := self._files.folder()) is not None:
            folder.add_transcript(key, transcript)
