"""The graders of a run's tasks, and whether a resumed run has the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.judge_names import judge_names, named
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.results.graders import graders_of
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.roles import JUDGE
from pytest_llmeval.scoring.grader import NO_JUDGE, grader_text, panel_of
from pytest_llmeval.scoring.judge.built_in import BUILT_IN, EQUIVALENCE
from pytest_llmeval.scoring.scorer import AskingScorer
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

Place: TypeAlias = tuple[str, str, str]
"""A task, a model under test, and the name of a score."""

_JUDGED: Final = f"{BUILT_IN[EQUIVALENCE].version.partition('/')[0]}/"
"""How the grader of a score by the run's judges begins."""

_FIX: Final = (
    "name the same scorers and judges, or make a run of its own, whose replies need not be paid "
    "again: --llmeval-reuse RUN in place of --llmeval-resume"
)


def task_graders(plan: Plan, settings: Settings, catalog: Catalog) -> dict[Place, str]:
    """Return the graders of the scores that the tasks of a plan declare.

    Raises:
        UsageError: the spec of a model is invalid, or a test has no model.
    """
    choice = model_choice(settings, catalog)
    graders: dict[Place, str] = {}
    for test in plan.kinds:
        for one in catalog.at(test.file).scorers:
            scorer = one.scorer
            judges = judge_names(choice, test, scorer) if isinstance(scorer, AskingScorer) else ()
            text = grader_text(scorer, judges, declared=one.spec.options)
            graders[test.task, test.key.model, scorer.name] = text
    return graders


def graders_json(graders: dict[Place, str]) -> list[Json]:
    """Return graders as run.json has them."""
    return [
        {"task": task, "model": model, "score": score, "grader": text}
        for (task, model, score), text in sorted(graders.items())
    ]


def check_same_graders(plan: Plan, settings: Settings, catalog: Catalog, run: StoredRun) -> None:
    """Raise UsageError if the plan's scores have other graders than those that `run` has already.

    A run without scores may go on under any grader; undecided ones are none.
    """
    scored = {(row.task, row.model) for row in run.rows if any(map(_is_decided, row.scores))}
    now, then = task_graders(plan, settings, catalog), _stored(run)
    for (task, model, score), grader in now.items():
        if (task, model) not in scored:
            continue
        known = then.get((task, model, score))
        if known is None:
            known = _of_rows(run.rows, task, model, score)
        if known != grader:
            raise _refusal(run, (task, model, score), known, grader)
    _check_undeclared(plan, model_choice(settings, catalog), run, declared=set(now))


def _stored(run: StoredRun) -> dict[Place, str]:
    """Return the graders in run.json; of several sessions the last counts."""
    sessions = [run.info, *_list(run.info.get("resumed"))]
    found = (one for session in sessions if isinstance(session, dict) for one in _graders(session))
    return dict(found)


def _graders(session: dict[str, Json]) -> Iterator[tuple[Place, str]]:
    for one in _list(session.get("graders")):
        if isinstance(one, dict):
            place = (str(one.get("task")), str(one.get("model")), str(one.get("score")))
            yield place, str(one.get("grader"))


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _of_rows(rows: Iterable[Row], task: str, model: str, score: str) -> str:
    """Return the graders that rows name for a score, of a run whose run.json tells none."""
    texts = {
        graders_of(row).get(score) or "a grader that is not named"
        for row in rows
        if (row.task, row.model) == (task, model) and row.scores
    }
    return " and ".join(sorted(texts))


def _check_undeclared(
    plan: Plan, choice: ModelChoice, run: StoredRun, *, declared: set[Place]
) -> None:
    """Raise UsageError if rows were judged, without their task's declaring it, by other judges."""
    tests = {(test.task, test.key.model): test for test in plan.kinds}
    for row in run.rows:
        test = tests.get((row.task, row.model))
        decided = {score.name for score in row.scores if _is_decided(score)}
        for score, text in graders_of(row).items():
            place = (row.task, row.model, score)
            known = score not in decided or place in declared
            if test is None or known or not text.startswith(_JUDGED):
                continue
            panel = " + ".join(sorted(named(choice.of_role(JUDGE, test)))) or NO_JUDGE
            if panel_of(text) != panel:
                raise _refusal(run, place, text, f"judges {panel}")


def _is_decided(score: Score) -> bool:
    return score.correct is not None or score.value is not None


def _refusal(run: StoredRun, place: Place, known: str, grader: str) -> UsageError:
    task, model, score = place
    msg = (
        f"--llmeval-resume {run.path.name}: its rows of {task} ({model}) have the score {score!r} "
        f"by {known}; this session grades by {grader}. One accuracy has one grader: {_FIX}"
    )
    return UsageError(msg)
