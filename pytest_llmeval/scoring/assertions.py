"""The assertions: each scores an answer, records the score for the running test, and may fail.

They serve in any test suite, with or without a task. The answer comes first, the target second: a
text, or several of which any is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

from msgspec.structs import replace as replace_fields

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Completion, Json, Sample, Score, Target, target_text
from pytest_llmeval.scoring.decision import decided, decided_together, failure_of
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.running import RUNNING
from pytest_llmeval.scoring.scorer import Scorer
from pytest_llmeval.scoring.targets import check_form, score_of

if TYPE_CHECKING:
    from pytest_llmeval.scoring.eed.result import Mode
    from pytest_llmeval.scoring.judge.judgement import Judgement

_S = TypeVar("_S", bound=Scorer)

_UNDER_PYTEST: Final = "run under pytest with --llmeval-judge SPEC"


class Judge(Protocol):
    """Decides whether a candidate answers a problem as the target does."""

    def __call__(self, *, problem: str, target: str, candidate: str, votes: int) -> Judgement:
        """Return the judgement; its verdict is None when no usable one was given."""
        ...


@runtime_checkable
class GradingJudge(Judge, Protocol):
    """A judge that says who it is, such as the fixture `judge`."""

    def grader(self, votes: int) -> str:
        """Return the text for scores by so many votes; see `grader_text`."""
        ...


def record_score(score: Score) -> Score:
    """Keep a score of the caller's making with the running test, if there is one, and return it.

    The outcome of the test follows its scores: it fails if a score that decides says incorrect.

    Raises:
        ScorerError: the score is not plain JSON, or its value lies outside 0..scale.

    Example::

        record_score(Score(name="length", value=0.8, correct=None, decides=False))
    """
    running = RUNNING.get()
    return score if running is None else running.record(score)


def assert_correct(sample: Sample, completion: Completion) -> tuple[Score, ...]:
    """Assert that the scorers which the running test's task declares find the answer correct.

    Returns:
        The scores in the order of the task file.

    Raises:
        AssertionError: the deciding scorers find the answer incorrect.
        UnscoredError: they cannot decide.
        UsageError: no test of a task is running, or the task declares no scorer.
        Exception: what a deciding scorer failed by, unless the others settle the outcome.
    """
    __tracebackhide__ = True
    running = RUNNING.get()
    if running is None or not running.scorers:
        msg = "assert_correct: the running test has no task with a scorer; add `scorer: NAME` to it"
        raise UsageError(msg)
    tried = [(one, *running.tried(one, completion.answer, sample)) for one in running.scorers]
    deciding = [
        (score, failure_of(scorer, completion.answer, sample, score), error)
        for scorer, score, error in tried
        if score.decides
    ]
    decided_together(deciding, any_decides=running.any_decides)
    return tuple(score for _, score, _ in tried)


def assert_sldp_equal(
    answer: str | None,
    solution: Target,
    *,
    tolerance: float | None = None,
    case_sensitive: bool | None = None,
) -> Score:
    """Assert that two SLDP texts are equal; numbers and coordinates within `tolerance`.

    None takes what the running test's task says, else 0.01 and False.

    Returns:
        The score, 1 or 0.

    Raises:
        AssertionError: the first differences by path, or where the answer stops being SLDP.
        ScorerError: the solution is no SLDP.
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.sldp.scorer import SldpScorer  # noqa: PLC0415 - lark is heavy

    scorer = _declared(SldpScorer, tolerance=tolerance, case_sensitive=case_sensitive)
    return _asserted(scorer, answer, _sample(solution))


def assert_pddl_equal(
    answer: str | None,
    solution: Target,
    *,
    predicates: Mapping[str, Sequence[str]] | None = None,
    case_sensitive: bool | None = None,
) -> Score:
    """Assert that two goals in PDDL are logically equivalent.

    None takes what the running test's task says, else any predicates and True.

    Args:
        answer: the goal to score.
        solution: the goal that it should mean.
        predicates: the domain's predicates, to the kinds of their symbols; a goal with another one
            is incorrect.
        case_sensitive: whether names of different case differ.

    Returns:
        The score, 1 or 0.

    Raises:
        AssertionError: facts that are missing or too many, and a state of the world that tells the
            goals apart, or where the answer stops being a goal.
        ScorerError: the solution is no goal.
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.pddl.scorer import PddlScorer  # noqa: PLC0415 - as that of SLDP

    scorer = _declared(PddlScorer, predicates=predicates, case_sensitive=case_sensitive)
    return _asserted(scorer, answer, _sample(solution))


def assert_eed_at_least(
    answer: str | None, target: Target, minimum: float | None = None, *, mode: Mode | None = None
) -> Score:
    """Assert that an answer's Expression Edit Distance score reaches `minimum` (0..100).

    None takes what the running test's task says, else 100 and ``corrected``. The formulas are
    evaluated in a child process, which has a limited CPU time for each pair.

    Returns:
        The score, 0..100.

    Raises:
        AssertionError: score, distance and the edits.
        UnscoredError: the corrected mode cannot read the target. (The published mode gives 0.)
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.eed.scorer import EedScorer  # noqa: PLC0415 - only for formulas

    return _asserted(_declared(EedScorer, minimum=minimum, mode=mode), answer, _sample(target))


def assert_judge_equivalent(
    answer: str | None,
    target: Target,
    *,
    problem: str | None = None,
    judge: Judge | None = None,
    votes: int | None = None,
) -> Score:
    """Assert that a judge finds an answer's final result mathematically equivalent to `target`.

    None takes the running test's problem, judge and votes, else no problem and 1 vote. A judge of
    the task that asks something else is not asked.

    Returns:
        The score, 1 or 0.

    Raises:
        AssertionError: the judge's reason.
        UnscoredError: the judge gave no usable verdict.
        UsageError: there is no judge.
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.judge.scorer import JudgeScorer  # noqa: PLC0415 - only for judges

    scorer = _declared(JudgeScorer, lambda one: one.prompt.asks_equivalence, votes=votes)
    sample = _sample(target, problem)
    if judge is None:
        if answer and RUNNING.get() is None:
            msg = f"assert_judge_equivalent: no judge; pass judge=, or {_UNDER_PYTEST}"
            raise UsageError(msg)
        return _asserted(scorer, answer, sample)
    prepared: Json = None
    if answer:
        judgement = judge(
            problem=sample.input,
            target=target_text(target),
            candidate=answer,
            votes=scorer.votes,
        )
        prepared = judgement.to_json()
    score = scorer.score(answer, sample, prepared)
    score = record_score(replace_fields(score, grader=_grader_of(judge, scorer.votes)))
    return decided(score, failure_of(scorer, answer, sample, score))


def assert_judged(  # noqa: PLR0913 - the parts of a case, and the options of its scorer
    answer: str | None,
    *,
    prompt: str,
    scale: object = None,
    minimum: float | None = None,
    criteria: Mapping[str, str] | None = None,
    votes: int = 1,
    problem: str | None = None,
    target: str | None = None,
    metadata: Mapping[str, Json] | None = None,
) -> Score:
    """Assert that the run's judge finds an answer correct, by any prompt and on any scale.

    Options are those of the scorer ``judge`` in a task file; the path of a file starts at the
    working directory. None takes problem, target and metadata of the running test's sample, else
    nothing.

    Example::

        assert_judged(answer, prompt="faithfulness", problem=question, metadata={"context": text})

    Returns:
        The score, on the scale of the judge.

    Raises:
        AssertionError: the judge's reason.
        UnscoredError: the judge gave no usable verdict.
        UsageError: there is no judge, or an option is wrong.
    """
    __tracebackhide__ = True
    from pytest_llmeval.scoring.judge.making import (  # noqa: PLC0415 - only for judges
        NamedPrompt,
        judge_scorer,
    )

    running = RUNNING.get()
    if running is None and answer:
        msg = f"assert_judged: no judge; {_UNDER_PYTEST}"
        raise UsageError(msg)
    try:
        scorer = judge_scorer(
            prompt=NamedPrompt().make(prompt, Path.cwd()),
            scale=scale,
            minimum=minimum,
            criteria=dict(criteria or {}),
            votes=votes,
        )
    except ValueError as error:
        msg = f"assert_judged: {error}"
        raise UsageError(msg) from None
    own = None if running is None else running.sample
    given = {"input": problem, "target": target, "metadata": metadata}
    sample = replace_fields(
        own or Sample(id="", input="", target=""),
        **{name: value for name, value in given.items() if value is not None},
    )
    return _asserted(scorer, answer, sample)


def _grader_of(judge: Judge, votes: int) -> str:
    """Return who grades by a judge given by hand: what it says itself, else the function's name."""
    if isinstance(judge, GradingJudge):
        return judge.grader(votes)
    named = judge if hasattr(judge, "__qualname__") else type(judge)
    return f"own judge votes={votes} by {named.__module__}:{named.__qualname__}"


def _asserted(scorer: Scorer, answer: str | None, sample: Sample) -> Score:
    __tracebackhide__ = True
    try:
        check_form(scorer, sample.target)
    except ValueError as error:
        raise UsageError(str(error)) from None
    running = RUNNING.get()
    if running is None:
        score = score_of(scorer, answer, sample, None)
        score = replace_fields(score, grader=grader_text(scorer, rules=score.grader))
    else:
        score = running.score(scorer, answer, sample)
    return decided(score, failure_of(scorer, answer, sample, score))


def _declared(
    kind: type[_S],
    fits: Callable[[_S], bool] = lambda _: True,
    **given: Any,  # noqa: ANN401 - the options of any scorer
) -> _S:
    """Return the task's first scorer of a kind that fits, or the default one, with the options."""
    running = RUNNING.get()
    scorers = () if running is None else running.scorers
    found = next((one for one in scorers if isinstance(one, kind) and fits(one)), None)
    options = {name: value for name, value in given.items() if value is not None}
    if found is None:
        return kind(**options)
    return replace(found, **options) if options else found  # type: ignore[type-var]  # all are dataclasses


def _sample(target: Target, problem: str | None = None) -> Sample:
    """Return the running test's sample with another target and problem, where those differ."""
    running = RUNNING.get()
    own = None if running is None else running.sample
    if own is None:
        return Sample(id="", input=problem or "", target=target)
    wanted = own.input if problem is None else problem
    if (own.target, own.input) == (target, wanted):
        return own
    return Sample(id=own.id, input=wanted, target=target, metadata=own.metadata)
