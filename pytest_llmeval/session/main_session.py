"""The session of the main process: engine, rows and files of a run. Independent of pytest.

What only the end of a run needs (`session.conclusion`: figures, comparisons, tables, pages) is
imported here, while a test waits for a reply or at the end; what reads gates and baselines, when
one is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.engine.engine import Engine
from pytest_llmeval.engine.link import ControllerLink, DirectLink
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.replies.place import REUSE
from pytest_llmeval.engine.run import Run
from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.errors import LLMEvalError, UsageError
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.records import Json, Row, RowKey, Transcript
from pytest_llmeval.report.progress_line import Progress
from pytest_llmeval.results.questions import Question
from pytest_llmeval.results.row_texts import lean
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.session.batching import batch_remarks
from pytest_llmeval.session.composition import RunPlace, open_run
from pytest_llmeval.session.estimate import estimate_lines
from pytest_llmeval.session.failures import Failure, Failures
from pytest_llmeval.session.files import SessionFiles
from pytest_llmeval.session.grading import check_same_graders
from pytest_llmeval.session.host import Host
from pytest_llmeval.session.judge_check import unusable_judges
from pytest_llmeval.session.picture_check import PlannedPictures, planned_pictures
from pytest_llmeval.session.places import rescored_place
from pytest_llmeval.session.plan_check import (
    check_batches,
    check_models,
    check_plan,
    check_report_folder,
    task_mistakes,
)
from pytest_llmeval.session.price_info import price_lines, prices_json
from pytest_llmeval.session.questions import planned_questions
from pytest_llmeval.session.role_check import missing_judges
from pytest_llmeval.session.row_log import RowLog
from pytest_llmeval.session.run_info import run_info
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.stored_runs import stored_run
from pytest_llmeval.session.task_info import known_task
from pytest_llmeval.session.time_left import TimeLeft
from pytest_llmeval.session.tracing import RunTraces
from pytest_llmeval.session.unasked import unasked_roles
from pytest_llmeval.session.undeclared import undeclared_remarks
from pytest_llmeval.session.validations import stored_validations
from pytest_llmeval.task.catalog import Catalog

if TYPE_CHECKING:
    from pytest_llmeval.session.conclusion import Conclusion
    from pytest_llmeval.session.yardstick import Yardstick

GRACE = 30.0
"""Seconds at most that the end of a run waits for replies in flight; they are paid, and stored for
a resumed run."""

HASTY_GRACE = 0.5
"""The same in seconds after Ctrl-C and -x."""


class MainSession:
    """The plan, the rows, the engine and the files of a run.

    Engine and files are opened on first use.

    Attributes:
        plan: the selected tests; empty until `take_plan`.
        rows: the rows reported so far.
        unjudged: number of tests that were skipped although their samples have answers, because
            nobody was asked about them, by the reason; without a gate, which weighs them itself.
    """

    def __init__(self, settings: Settings, catalog: Catalog, host: Host) -> None:
        """Read the files that the options name, before anything is paid.

        Raises:
            UsageError: gate, baseline or a judge's validation is invalid, or the run to resume
                does not exist.
        """
        self._yardstick = _yardstick_of(settings)
        self._validations = stored_validations(settings.report)
        place = rescored_place(settings)
        self._rescored: StoredRun | None = None if place is None else stored_run(REUSE, place)
        self._writes = Writes(self._end)
        self._files = SessionFiles(settings, self._run_info, self._questions, self._writes)
        self._settings, self._catalog, self._host = settings, catalog, host
        self.plan = Plan(tests=(), tasks=())
        self._checked = False
        self._mistakes: Mapping[str, LLMEvalError] = {}
        self._pictures = PlannedPictures()
        self._failures = Failures()
        self._traces = RunTraces(settings)
        self._time_left = TimeLeft()
        self.unjudged: Counter[str] = Counter()
        self.rows = RowLog(
            catalog,
            self._files.folder,
            self._writes,
            self._files.earlier,
            self._kept,
            added=self._traces.add,
        )

    @cached_property
    def engine(self) -> Engine:
        """The engine; its thread starts with the first wish."""
        return Engine(self._open_run)

    @cached_property
    def link(self) -> DirectLink:
        """The connection from this process's own tests to the engine."""
        return DirectLink(self.engine, meanwhile=_load_the_end)

    @cached_property
    def controller_link(self) -> ControllerLink:
        """The controller's end of the workers' channels."""
        return ControllerLink(self.engine, self.take_plan)

    def take_plan(self, plan: Plan) -> None:
        """Store the plan: this process's own, or the first worker's (in execnet's thread)."""
        self.plan = plan

    def check(self, *, sends: bool) -> bool:
        """Check once that the plan can be run; return whether this call checked it.

        A mistake in one task is reported by the first test of the task that runs, and its other
        tests are skipped; if no models will be asked, it is raised.

        Args:
            sends: whether models will be asked, so that keys and addresses must be set.

        Raises:
            UsageError: it cannot be run; the message names the option or file to correct.
        """
        if not self.plan.tasks or self._checked:
            return False
        self._checked = True
        self._mistakes = task_mistakes(self.plan, self._settings, self._catalog)
        asks = sends and not self._settings.estimate
        if asks:
            self._traces.open()
        if self._mistakes and not asks:
            # No test will run that could report them.
            raise UsageError("\n".join(map(str, self._mistakes.values())))
        sound = self.plan.without(self._mistakes)
        check_plan(sound, self._settings, self._catalog)
        check_batches(sound, self._settings, self._catalog)
        check_report_folder(self._settings)
        if (resumed := self._files.resumed) is not None:
            check_same_graders(sound, self._settings, self._catalog, resumed)
            self._files.release_rows()
        if asks and self._rescored is None:
            check_models(sound, self._settings, self._catalog)
            self._pictures = planned_pictures(sound, self._catalog, self._tell_now)
            self._mistakes = {**self._mistakes, **self._pictures.mistakes}
            for remark in unusable_judges(sound, self._settings, self._catalog):
                self._host.tell(remark)
        for remark in missing_judges(sound, self._settings, self._catalog):
            self._host.tell(remark)
        return True

    def estimate(self) -> list[str]:
        """Return the estimate of the plan, a line for each task and model."""
        lines = estimate_lines(self.plan, self._settings, self._catalog)
        return lines or ["nothing to estimate"]

    def progress(self, now: float) -> Progress | None:
        """Return how far the run is at a time (s); None before the engine was asked.

        Called by one thread, which need not be the session's.
        """
        gauge = self.engine.gauge if "engine" in self.__dict__ else None
        tally, planned = self.rows.tally, len(self.plan.tests)
        if gauge is None:
            return None
        self._time_left.note(now, done=tally.done, live=tally.live, replies=gauge.replies)
        return Progress(
            done=tally.done,
            planned=planned,
            accuracy=tally.accuracy,
            interval=tally.interval,
            errors=tally.errors,
            in_flight=gauge.in_flight,
            retries=gauge.retries,
            usage=gauge.usage,
            batches=gauge.batches,
            left=self._time_left.seconds(now, planned - tally.done, gauge.in_flight),
        )

    def failed(self, test: PlannedTest, failure: Failure | None) -> None:
        """Note how a test ended; after some equal failures its function's other tests are stopped.

        Args:
            test: a planned test that was reported.
            failure: the failure of the user's own code; None for another end.
        """
        if (reason := self._failures.add(test, failure)) is not None:
            self.engine.end_test(test.test, reason)

    def over(self, nodeid: str) -> None:
        """Note that a test has ended."""
        if self.plan.tests:
            self.engine.discard(nodeid)

    def close(self, reason: str, *, in_haste: bool) -> None:
        """Stop the engine, if it was opened.

        Args:
            reason: message of the RunStopped in tests that still wait.
            in_haste: whether to wait HASTY_GRACE for replies in flight instead of GRACE.
        """
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
            # A tool that cannot be closed must not prevent the table.
            self._host.tell(f"while closing: {error}")

    def hurry(self) -> None:
        """Let `close` not wait for replies in flight any more; may be called by a signal."""
        if "engine" in self.__dict__:
            self.engine.hurry()

    def conclude(self, *, lost_worker: bool = False) -> Conclusion | None:
        """Add a row for every unreported sample, write the summary and close the files.

        Args:
            lost_worker: whether a worker died, so that tests may be missing through nobody's wish.

        Returns:
            The conclusion. It is None, and there are no files, when no test was planned, when tests
            were only listed, or when the session ended before the first wish.
        """
        begun = self.engine.started or self.rows.reported or lost_worker
        if not self.plan.tests or not begun:
            self._files.close()
            self._traces.close(None)
            return None
        self.rows.complete(self.plan)
        tasks = {
            loaded.task.name: known_task(loaded, self._validations)
            for file, loaded in self._catalog.loaded.items()
            if str(file) not in self._mistakes
        }
        from pytest_llmeval.session.conclusion import (  # noqa: PLC0415 - see the module
            Measures,
            conclude,
        )

        measures = Measures(yardstick=self._yardstick, replayed=self._rescored)
        rows, effort = self.rows.rows, self.engine.effort
        conclusion = conclude(rows, tasks, measures, self._files.made(), effort)
        self._files.close()
        lost_spans = self._traces.close(conclusion.path)
        asked = frozenset[str]() if effort is None else effort.roles
        by_name = {one.task.name: one for one in self._catalog.loaded.values()}
        return replace(
            conclusion,
            prices=self._price_lines(effort),
            unwritten=(*self._unopened(), *self._writes.failures, *conclusion.unwritten),
            remarks=(
                *undeclared_remarks(rows, by_name),
                *self._failures.remarks(),
                *unasked_roles(self.plan, self._settings, self._catalog, asked),
                *lost_spans,
                *self._batch_remarks(conclusion.path),
                *(f"{n:,} unscored: {reason}" for reason, n in self.unjudged.items()),
            ),
        )

    def _batch_remarks(self, run: Path | None) -> list[str]:
        """Return the lines about batches that the session leaves with providers."""
        gauge = self.engine.gauge
        return batch_remarks(None if gauge is None else gauge.batches, run, self._settings.keep)

    def _price_lines(self, effort: Effort | None) -> tuple[str, ...]:
        """Return the line about the prices of the models that were asked."""
        asked = [] if effort is None else [n for n, one in effort.models.items() if one.replies]
        if not asked:
            return ()
        sound = self.plan.without(self._mistakes)
        return tuple(price_lines(prices_json(self._settings, self._catalog, sound), asked))

    @cached_property
    def _reading(self) -> frozenset[str]:
        """The names of the tasks whose metrics may read texts of rows."""
        tasks = {
            loaded.task.name: known_task(loaded)
            for file, loaded in self._catalog.loaded.items()
            if str(file) not in self._mistakes
        }
        return frozenset(name for name, task in tasks.items() if task.reads_texts)

    def _kept(self, row: Row) -> Row:
        """Return what of a row stays in memory; without files, all that figures may need."""
        needed = self._rescored is not None or row.task in self._reading
        return row if needed and not self._files.wanted else lean(row)

    def _keep_transcript(self, key: RowKey, transcript: Transcript) -> None:
        self._traces.keep_transcript(key, transcript)
        self._files.keep_transcript(key, transcript)

    def _tell_now(self, text: str) -> None:
        self._host.tell(text)
        self._host.flush()

    def _end(self, reason: str) -> None:
        """Send nothing more, from whichever thread."""
        self.engine.end(reason)

    def _unopened(self) -> Iterator[str]:
        """Yield why the run could not be opened, unless that is told of its files anyway."""
        reason = self.engine.unopened
        if reason is not None and not any(reason in one for one in self._writes.failures):
            yield f"the run could not be started: {reason}"

    def _open_run(self) -> Run:
        place = RunPlace(
            folder=self._files.data_folder(),
            started=self._files.started,
            keep_transcript=self._keep_transcript,
            writes=self._writes,
            tell=self._host.tell,
            stops_early=self._host.stops_early,
            mistakes=self._mistakes,
            pictures=self._pictures.images,
        )
        return open_run(self._settings, self._catalog, self.plan, place)

    def _questions(self) -> Iterator[Question]:
        sound = self.plan.without(self._mistakes)
        return planned_questions(sound, self._catalog, self._pictures.images)

    def _run_info(self) -> dict[str, Json]:
        return run_info(
            self._settings,
            self._catalog,
            self.plan,
            self._host.root,
            self._validations,
            mistaken=self._mistakes,
        )


def _yardstick_of(settings: Settings) -> Yardstick | None:
    """Return the session's gate and baseline; None without both. Raises as `load_yardstick`."""
    if settings.gate is None and settings.baseline is None:
        return None
    from pytest_llmeval.session.yardstick import yardstick_of  # noqa: PLC0415 - see the module

    return yardstick_of(settings)


def _load_the_end() -> None:
    """Import what the end of the run needs; nothing after the first time."""
    import_module("pytest_llmeval.session.conclusion")
