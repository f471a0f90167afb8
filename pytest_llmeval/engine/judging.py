"""Decides one case: by the prefilter if that can, else by asking a judge as often as its ballot demands."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.judge.judgement import Judgement
from pytest_llmeval.judge.prefilter import PREFILTER_VERSION, decide_plainly
from pytest_llmeval.judge.prompt import judge_messages
from pytest_llmeval.judge.voting import Ballot
from pytest_llmeval.records import Verdict

NO_JUDGE = "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is judged, by how many votes, and whether plain numbers spare the judge the question."""

    problem: str
    target: str
    candidate: str
    votes: int
    prefilter: bool


async def judge(case: Case, model: ModelSpec | None, calls: Calls) -> Judgement:
    """Return the judgement on a case by `model`, unscored when there is none and the prefilter cannot decide."""
    if case.prefilter:
        plain = decide_plainly(case.candidate, case.target)
        if plain.decision != "undecided":
            verdict = Verdict(equivalent=plain.decision == "equal", reason=plain.reason)
            return Judgement(verdict=verdict, explanation=plain.reason, judge=PREFILTER_VERSION)
    if model is None:
        return Judgement(verdict=None, explanation=NO_JUDGE)
    messages = judge_messages(case.problem, case.target, case.candidate)
    ballot = Ballot(votes=case.votes)
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, (await calls.ask_judge(model, messages, draw)).text)
    return Judgement(
        verdict=ballot.result, explanation=ballot.explanation, tally=ballot.tally.to_json(), judge=model.label
    )
