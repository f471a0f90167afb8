"""Scores the stored answers of a run again, without its tests."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace as with_values
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from pytest_llmeval.engine.engine import Engine
from pytest_llmeval.engine.link import DirectLink
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.replies import IMAGES
from pytest_llmeval.engine.run import Run
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.providers.opening import check_provider
from pytest_llmeval.records import Json, Row, RowKey, Transcript, Usage
from pytest_llmeval.results.graders import GRADER
from pytest_llmeval.results.keyed_lines import KeyedLines
from pytest_llmeval.results.questions import read_questions
from pytest_llmeval.results.rows import ROLE
from pytest_llmeval.results.run_files import LABELS, TRANSCRIPTS
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import read_transcripts
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.composition import RunPlace, open_run
from pytest_llmeval.session.conclusion import Conclusion, Measures, conclude
from pytest_llmeval.session.ending import finish
from pytest_llmeval.session.outcome import outcome_of
from pytest_llmeval.session.plan_check import check_settings
from pytest_llmeval.session.rescore_plan import RescorePlan
from pytest_llmeval.session.role_check import missing_judges
from pytest_llmeval.session.rows import row_of
from pytest_llmeval.session.run_info import run_info
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.session.stored_completions import StoredCompletions, solvers_part
from pytest_llmeval.session.task_info import known_task
from pytest_llmeval.session.validations import stored_validations

Tell = Callable[[str], None]


def rescore(plan: RescorePlan, reports: Path, tell: Tell) -> Conclusion:
    """Score the answers of a run again, and write the result as a run in `reports`.

    All rows with an answer are scored, also those whose judge, scorer or test failed; rows
    without one (error, not run) are copied. Rows whose sample is not in the dataset any more lose
    their score. The old run, and ``latest``, stay as they are.

    Args:
        plan: the answers, and how they are scored.
        reports: the folder of runs.
        tell: shows a line to the user.

    Returns:
        The new run's conclusion, with what changed.

    Raises:
        TaskError, UsageError: a task, a scorer, a judge or a place of replies cannot be used.
        RunStopped: the new run's rows or transcripts cannot be written.
    """
    _check(plan, tell)
    info, redactor = _run_info(plan), Redactor.of(os.environ)
    created = RunFolder.create(reports, info, redactor=redactor, becomes_latest=False)
    with closing(created) as folder:
        return _Rescoring(plan, folder, tell).conclusion()


class _Rescoring:
    """Scores the rows of a plan one after the other; what their scorers ask is asked ahead."""

    def __init__(self, plan: RescorePlan, folder: RunFolder, tell: Tell) -> None:
        self._plan, self._folder, self._tell = plan, folder, tell
        self._started = time.time()
        self._engine = Engine(self._open_run)
        self._writes = Writes(self._engine.end)
        self._link = DirectLink(self._engine)
        self._asked: dict[RowKey, Transcript] = {}
        self._solved = _solvers_parts(plan)

    def conclusion(self) -> Conclusion:
        tests = {test.key: test for test in self._plan.tests.tests}
        rows = []
        try:
            for row in self._plan.run.rows:
                test = tests.get(row.key)
                rows.append(self._unscored(row) if test is None else self._scored(row, test))
                with self._writes.to("rows"):
                    self._folder.add_row(rows[-1])
        finally:
            self._engine.stop("the answers are scored")
        with self._writes.to("transcripts and pictures"):
            self._copy_evidence()
        validations = stored_validations(self._plan.settings.report)
        tasks = {
            name: known_task(self._plan.catalog.load(file), validations)
            for name, file in self._plan.files.items()
        }
        measures = Measures(replayed=self._plan.run)
        found = conclude(rows, tasks, measures, self._folder, self._engine.effort)
        return with_values(found, unwritten=(*self._writes.failures, *found.unwritten))

    def _open_run(self) -> Run:
        settings = self._plan.settings
        if settings.reuse is None and not self._plan.asks:
            # The old run stored no replies: the new one's store, still empty, stands for them.
            settings = with_values(settings, reuse=f"{self._folder.path},only=on")
        place = RunPlace(
            folder=self._folder.path,
            started=self._started,
            keep_transcript=self._asked.__setitem__,
            writes=self._writes,
            tell=self._tell,
            stops_early=False,
            completions=StoredCompletions(
                self._plan.completions, KeyedLines(self._plan.run.path / TRANSCRIPTS, Transcript)
            ),
        )
        return open_run(settings, self._plan.catalog, self._plan.tests, place)

    def _scored(self, row: Row, test: PlannedTest) -> Row:
        """Return a row with new scores, as ``assert_correct(sample, completion)`` makes them."""
        attempt = Attempt(test.nodeid, lambda: self._link)
        attempt.planned, attempt.loaded = test, self._plan.catalog.at(test.file)
        attempt.sample = attempt.loaded.by_id[test.sample]
        attempt.completion = completion = self._plan.completions[row.key]
        raised: Exception | None = None
        try:
            attempt.wait()
            for scorer in attempt.scorers:
                attempt.tried(scorer, completion.answer, attempt.sample)
            finish(attempt, None)
        except Exception as error:
            if self._engine.unopened is not None:
                raise
            raised = error  # a scorer may be any code; its failure is a row's
        outcome = outcome_of(attempt, raised, in_body=True, skipped=False)
        return self._completed(row_of(attempt, test, outcome, raised), row)

    def _unscored(self, row: Row) -> Row:
        """Return a row that is not scored: a copy, or one whose score cannot be made any more."""
        reason = self._plan.stale.get(row.key)
        if reason is None:
            return row
        versions = {name: one for name, one in row.versions.items() if not name.startswith(GRADER)}
        return replace(row, outcome="unscored", scores=(), explanation=reason, versions=versions)

    def _completed(self, new: Row, old: Row) -> Row:
        """Return the new row with what its solver did in the old run."""
        solved = self._solved.get(old.key, _SolversPart(old.usage, old.seconds))
        asked = self._asked.get(old.key, Transcript())
        age = max(self._started - self._plan.run.started, asked.age or 0.0)
        partners = {name: of for name, of in old.versions.items() if name.startswith(ROLE)}
        cached = not asked.calls or asked.age is not None
        return replace(
            new,
            nodeid=old.nodeid,
            usage=solved.usage + asked.usage,
            seconds=solved.seconds + asked.latency,
            cached=cached,
            age=age if cached else None,
            engine=old.engine,
            stands_in_for=old.stands_in_for,
            versions={**new.versions, **partners},
        )

    def _copy_evidence(self) -> None:
        """Copy questions, transcripts, pictures, labels; scorers' parts of transcripts are new."""
        run = self._plan.run
        self._folder.add_questions(read_questions(run.path))
        scored = {row.key for row in self._plan.rows.values()}
        for key, transcript in read_transcripts(run.path):
            if key in scored:
                asked = self._asked.get(key, Transcript()).events
                events = (*solvers_part(transcript).events, *asked)
                self._folder.add_transcript(key, Transcript(events=events))
            else:
                self._folder.add_transcript(key, transcript)
        if (run.path / IMAGES).is_dir():
            images = self._folder.path / IMAGES
            shutil.copytree(run.path / IMAGES, images, dirs_exist_ok=True)
        if (run.path / LABELS).is_file():
            shutil.copy(run.path / LABELS, self._folder.path / LABELS)


class _SolversPart(NamedTuple):
    """What the solver's calls of a sample came to: tokens and cost, and seconds."""

    usage: Usage
    seconds: float


def _solvers_parts(plan: RescorePlan) -> dict[RowKey, _SolversPart]:
    parts = {}
    for key, transcript in read_transcripts(plan.run.path):
        solver = solvers_part(transcript)
        parts[key] = _SolversPart(solver.usage, solver.latency)
    return parts


def _check(plan: RescorePlan, tell: Tell) -> None:
    """Raise for what cannot be used, before anything is asked."""
    settings, catalog = plan.settings, plan.catalog
    check_settings(settings)
    spending, choice = Spending(settings), model_choice(settings, catalog)
    for test in plan.tests.kinds:
        for judge in choice.scoring(test):
            spending.budget(judge)
            if plan.asks:
                check_provider(judge.bare, folder=Path(settings.folder))
    for remark in missing_judges(plan.tests, settings, catalog):
        tell(remark)
    for reason, number in Counter(plan.stale.values()).items():
        tell(f"{reason} ({number:,} of the run's rows)")
    if plan.stale and plan.added:
        tell(f"samples of the datasets that the run has no row of: {plan.added:,}")


def _run_info(plan: RescorePlan) -> dict[str, Json]:
    """Return run.json, which names the run that was scored again."""
    validations = stored_validations(plan.settings.report)
    info = run_info(plan.settings, plan.catalog, plan.tests, Path.cwd(), validations)
    scorers: list[Json] = [{spec.name: dict(spec.options)} for spec in plan.scorers]
    rescored: dict[str, Json] = {"run": plan.run.path.name, "scorers": scorers}
    settings = {**plan.settings.to_json(), "models": _stored_models(plan)}
    return {**info, "settings": settings, "planned": plan.run.planned, "rescored": rescored}


def _stored_models(plan: RescorePlan) -> Json:
    stored = plan.run.info.get("settings")
    return stored.get("models") if isinstance(stored, dict) else None
