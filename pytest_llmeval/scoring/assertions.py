"""The assertions: each scores an answer, records the score for the running test, and fails with what to act on.

They serve in any test suite, with or without a task. Everywhere the candidate comes first and the
truth second.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_llmeval.errors import ScorerError, UsageError
from pytest_llmeval.records import Json, Score
from pytest_llmeval.records.score import DECIDED_BY

if TYPE_CHECKING:
    from pytest_llmeval.scoring.eed.result import EedResult, Mode
    from pytest_llmeval.scoring.eed.sandbox import Sandbox
    from pytest_llmeval.scoring.judge.judgement import Judgement

T = TypeVar("T")

_DEFAULT_MODE: Mode = "corrected"

MAX_EDITS = 20
"""Edits that a failure's text shows; the score's details hold them all."""

NO_ANSWER = "the reply holds no answer in the demanded form"


class Judge(Protocol):
    """Decides whether a candidate answers a problem as the target does."""

    def __call__(self, *, problem: str, target: str, candidate: str, votes: int) -> Judgement:
        """Return the judgement; its verdict is None when no usable one was given."""
        ...


class RunningTest(Protocol):
    """What an assertion uses of the test that it runs in."""

    @property
    def problem(self) -> str:
        """What the sample asks, "" without a sample."""
        ...

    @property
    def judge(self) -> Judge:
        """The run's judge."""
        ...

    @property
    def no_answer(self) -> str:
        """Why the completion holds no answer, "" when nothing is known of it."""
        ...

    def setting(self, scorer: str, name: str) -> Any:  # noqa: ANN401 - as the task file says
        """Return what the task says of a scorer's setting, or None."""
        ...

    def record(self, score: Score) -> None:
        """Keep a score with the test; ScorerError when it is not plain JSON."""
        ...


RUNNING: ContextVar[RunningTest | None] = ContextVar("llmeval_running_test", default=None)
"""The running test; the plugin sets it around every test body."""


class UnscoredError(ScorerError):
    """The scorer could decide nothing: neither right nor wrong, pytest's error."""


def record_score(score: Score) -> Score:
    """Keep a score of your own with the running test (if there is one) and return it.

    A test's outcome follows its scores: incorrect if one that decides says so. ScorerError when it
    is not plain JSON.
    """
    if (running := RUNNING.get()) is not None:
        running.record(score)
    return score


def assert_sldp_equal(
    answer: str | None,
    solution: str,
    *,
    tolerance: float | None = None,
    case_sensitive: bool | None = None,
) -> Score:
    """Assert that two SLDP texts are equal (seed: Heracles); numbers and coordinates within `tolerance`.

    None takes what the running test's task says, else 0.01 and False. Score: 0 or 1. The
    AssertionError tells the first differences by path, or where the answer stops being SLDP.
    ScorerError when the solution is no SLDP.
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.sldp import SLDP_GRADER, SldpSyntaxError, parse_sldp, sldp_diff  # noqa: PLC0415 - lark

    try:
        truth = parse_sldp(solution)
    except SldpSyntaxError as error:
        msg = f"the solution is no SLDP: {error}"
        raise ScorerError(msg) from error
    try:
        if answer is None:
            explanation, valid = _no_answer(), False
        else:
            differences = sldp_diff(
                parse_sldp(answer),
                truth,
                tolerance=_setting("sldp", "tolerance", tolerance, 0.01),
                case_sensitive=_setting("sldp", "case_sensitive", case_sensitive, False),
            )
            explanation, valid = "\n".join(differences), True
    except SldpSyntaxError as error:
        explanation, valid = f"the answer is no SLDP: {error}", False
    correct = valid and not explanation
    score = Score(
        name="SLDP",
        value=float(correct),
        correct=correct,
        explanation=explanation,
        grader=SLDP_GRADER,
        details={"valid_sldp": valid},
    )
    return _decided(record_score(score), f"SLDP: {answer!r} is not equal to {solution!r}")


def assert_eed_at_least(
    answer: str | None, target: str, minimum: float | None = None, *, mode: Mode | None = None
) -> Score:
    """Assert that an answer's Expression Edit Distance score reaches `minimum` (0..100; seed: PHYBench).

    None takes what the running test's task says, else 100 and "corrected". Scored in a killable
    child process, which one pair may use for a limited CPU time. The AssertionError tells score,
    distance and the edits. `UnscoredError` when the corrected mode decides and cannot read the
    target; the published mode then gives 0, by its rules.
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.eed.result import EedResult  # noqa: PLC0415 - light, but for tests that score formulas only

    minimum = _setting("eed", "minimum", minimum, 100.0)
    deciding: Mode = _setting("eed", "mode", mode, _DEFAULT_MODE)
    also: Mode | None = _setting("eed", "also", None, None)
    if answer is None:
        results = {
            shown: EedResult.unreadable(shown, _no_answer()) for shown in (deciding, also) if shown
        }
    else:
        results = _sandbox().score_modes(
            answer, target, modes=[deciding, *([also] if also else [])]
        )
    score = record_score(_eed_score("EED", results[deciding], minimum, decides=True))
    if also and also != deciding:
        record_score(_eed_score(f"EED {also}", results[also], minimum, decides=False))
    return _decided(
        score,
        f"EED ({deciding}) {results[deciding].score:.2f} of 100, wanted at least {minimum:g}: {answer!r}",
    )


def assert_judge_equivalent(
    answer: str | None,
    target: str,
    *,
    problem: str | None = None,
    judge: Judge | None = None,
    votes: int | None = None,
) -> Score:
    """Assert that a judge finds an answer's final result mathematically equivalent to `target` (seed: Geometry3K).

    None takes the running test's problem, judge and votes, else no problem and 1 vote. Score: 0 or
    1. The AssertionError tells the judge's reason; `UnscoredError` when it gave no usable verdict;
    UsageError without a judge.
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.judge.prompt import JUDGE_PROMPT_VERSION  # noqa: PLC0415 - only tests that judge need it

    if not answer:
        decided: dict[str, Json] = {DECIDED_BY: "symbolic"}
        score = record_score(
            _judge_score(_no_answer(), correct=False, grader=JUDGE_PROMPT_VERSION, details=decided)
        )
        return _decided(score, "judge: not asked")
    running = RUNNING.get()
    if judge is None:
        if running is None:
            msg = "assert_judge_equivalent: no judge; pass judge=, or run under pytest with --llmeval-judge SPEC"
            raise UsageError(msg)
        judge = running.judge
    if problem is None:
        problem = "" if running is None else running.problem
    judgement = judge(
        problem=problem, target=target, candidate=answer, votes=_setting("judge", "votes", votes, 1)
    )
    correct = None if judgement.verdict is None else judgement.verdict.equivalent
    score = _judge_score(
        judgement.explanation,
        correct=correct,
        grader=JUDGE_PROMPT_VERSION,
        details=judgement.details,
    )
    return _decided(record_score(score), f"judge: not equivalent to {target!r}")


@cache
def _sandbox() -> Sandbox:
    """Return this process's scoring children, which live as long as it does: starting one takes seconds."""
    from pytest_llmeval.scoring.eed.sandbox import Sandbox  # noqa: PLC0415 - only tests that score formulas need it

    return Sandbox()


def _no_answer() -> str:
    """Return why there is no answer to score."""
    running = RUNNING.get()
    return NO_ANSWER if running is None else running.no_answer or NO_ANSWER


def _eed_score(name: str, result: EedResult, minimum: float, *, decides: bool) -> Score:
    edits = [str(edit) for edit in result.edits]
    details: dict[str, Json] = {
        "reading": result.reading,
        "reason": result.reason,
        "relative_distance": result.relative_distance,
        "tree_size": result.tree_size,
        "distance": result.distance,
        "edits": [*edits],
        "assumptions": [*result.assumptions],
        "answer": result.answer,
        "target": result.target,
        "trees": None if result.trees is None else result.trees.to_json(),
    }
    told = f"{result.reason}: a {result.reading} difference" if edits else result.reason
    return Score(
        name=name,
        value=result.score if result.decided else None,
        scale=100.0,
        correct=result.score >= minimum if result.decided else None,
        explanation="\n".join([told, *(f"  {edit}" for edit in edits[:MAX_EDITS])]),
        grader=result.grader,
        decides=decides,
        details=details,
    )


def _judge_score(
    explanation: str, *, correct: bool | None, grader: str, details: dict[str, Json] | None = None
) -> Score:
    value = None if correct is None else float(correct)
    return Score(
        name="judge",
        value=value,
        correct=correct,
        explanation=explanation,
        grader=grader,
        details=details or {},
    )


def _decided(score: Score, failure: str) -> Score:
    """Return the score of a right answer, or raise what the score means."""
    __tracebackhide__ = True
    if score.correct is None:
        msg = f"{score.name}: unscored: {score.explanation}"
        raise UnscoredError(msg)
    if not score.correct:
        msg = f"{failure}\n{score.explanation}" if score.explanation else failure
        raise AssertionError(msg)
    return score


def _setting(scorer: str, name: str, given: T | None, default: T) -> T:
    """Return the value given in the call, else the task's, else the published default."""
    if given is not None:
        return given
    running = RUNNING.get()
    found = None if running is None else running.setting(scorer, name)
    return default if found is None else found
