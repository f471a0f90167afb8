"""Decides one case: by the prefilter if that can, else by asking each judge as often as its ballot demands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import Message, Verdict
from pytest_llmeval.scoring.judge.judgement import Judgement, Opinion, majority, panel_name
from pytest_llmeval.scoring.judge.prefilter import PREFILTER_VERSION, PlainDecision, decide_plainly
from pytest_llmeval.scoring.judge.prompt import judge_messages
from pytest_llmeval.scoring.judge.voting import Ballot, VoteCount

if TYPE_CHECKING:
    from pytest_llmeval.scoring.eed.sandbox import Sandbox

NO_JUDGE = "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"

EQUIVALENCE_SECONDS: Final = 5.0
"""CPU seconds that comparing two formulas may take; what takes longer is left to the judge, which
costs less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is judged, by how many votes of each judge, and whether plain answers spare the judges the question."""

    problem: str
    target: str
    candidate: str
    votes: int
    prefilter: bool


class Prefilter:
    """Decides plain answers.

    Formulas are compared in a killable child, while the engine's loop goes on.
    """

    def __init__(self) -> None:
        """Start nothing yet."""
        self._sandbox: Sandbox | None = None
        self._known: dict[tuple[str, str], bool] = {}

    async def decide(self, candidate: str, target: str) -> PlainDecision:
        """Return the decision; the child is asked only about a single final answer made of numbers, roots and pi."""
        plain = decide_plainly(candidate, target)
        if plain.answer is None or plain.decision != "undecided":
            return plain
        if self._sandbox is None:
            from pytest_llmeval.scoring.eed.sandbox import Sandbox  # noqa: PLC0415 - only formulas need it

            self._sandbox = Sandbox(cpu_seconds=EQUIVALENCE_SECONDS)
        equivalent = partial(self._equivalent, self._sandbox)
        return await asyncio.to_thread(decide_plainly, candidate, target, equivalent=equivalent)

    def close(self) -> None:
        """End the child."""
        if self._sandbox is not None:
            self._sandbox.close()

    def _equivalent(self, sandbox: Sandbox, answer: str, target: str) -> bool:
        # A test's body asks once more what the engine asked for it beforehand.
        if (answer, target) not in self._known:
            self._known[answer, target] = sandbox.equivalent(answer, target)
        return self._known[answer, target]


async def judge(
    case: Case, models: Sequence[ModelSpec], calls: Calls, prefilter: Prefilter
) -> Judgement:
    """Return the judgement on a case: `models` decide by majority what the prefilter cannot, if it may try.

    Unscored when there is no model, or when the models decide nothing.
    """
    if case.prefilter:
        plain = await prefilter.decide(case.candidate, case.target)
        if plain.decision != "undecided":
            verdict = Verdict(equivalent=plain.decision == "equal", reason=plain.reason)
            return Judgement(
                verdict=verdict,
                explanation=plain.reason,
                judge=PREFILTER_VERSION,
                decided_by="symbolic",
            )
    if not models:
        return Judgement(verdict=None, explanation=NO_JUDGE)
    return await ask_judges(case, models, calls)


async def ask_judges(
    case: Case, models: Sequence[ModelSpec], calls: Calls, *, stop_early: bool = True
) -> Judgement:
    """Return what the judges find, asked at the same time; each is asked for its votes one after the other."""
    ballots = [Ballot(votes=case.votes, stop_early=stop_early) for _ in models]
    await _poll_all(
        models, judge_messages(case.problem, case.target, case.candidate), calls, ballots
    )
    opinions = tuple(
        _opinion(model.label, ballot) for model, ballot in zip(models, ballots, strict=True)
    )
    verdict, explanation = majority(opinions)
    return Judgement(
        verdict=verdict,
        explanation=explanation,
        tally=VoteCount.combined([ballot.tally for ballot in ballots]).to_json(),
        judge=panel_name([model.label for model in models]),
        decided_by=None if verdict is None else "judge",
        opinions=opinions,
    )


async def _poll_all(
    models: Sequence[ModelSpec],
    messages: Sequence[Message],
    calls: Calls,
    ballots: Sequence[Ballot],
) -> None:
    """Fill the ballots.

    The transcript has the judges in their order, whoever was faster; a failure waits for all.
    """
    branches = [calls.branch() for _ in models]
    polls = [
        _poll(model, messages, branch, ballot)
        for model, branch, ballot in zip(models, branches, ballots, strict=True)
    ]
    try:
        outcomes = await asyncio.gather(*polls, return_exceptions=True)
    finally:
        calls.join(branches)
    if failure := next(filter(None, outcomes), None):
        raise failure


async def _poll(
    model: ModelSpec, messages: Sequence[Message], calls: Calls, ballot: Ballot
) -> None:
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, (await calls.ask_judge(model, messages, draw)).text)


def _opinion(label: str, ballot: Ballot) -> Opinion:
    return Opinion(
        judge=label,
        equivalent=None if ballot.result is None else ballot.result.equivalent,
        reason=ballot.explanation,
        votes=ballot.decisions,
        wanted=ballot.votes,
    )
