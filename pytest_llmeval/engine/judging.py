"""Asks a judge as often as its ballot demands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import cast

from pytest_llmeval.judge.prompt import judge_messages
from pytest_llmeval.judge.voting import Ballot
from pytest_llmeval.records import Json, Message, Reply, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge's ballot came to: the verdict (None: unscored), why, and how the votes fell."""

    verdict: Verdict | None
    explanation: str
    tally: dict[str, Json]

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        equivalent = None if self.verdict is None else self.verdict.equivalent
        return {"equivalent": equivalent, "explanation": self.explanation, "tally": self.tally}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Judgement:
        """Return the judgement that `to_json` wrote."""
        explanation = str(data["explanation"])
        equivalent = data["equivalent"]
        return cls(
            verdict=None if equivalent is None else Verdict(equivalent=bool(equivalent), reason=explanation),
            explanation=explanation,
            tally=cast("dict[str, Json]", data["tally"]),
        )


async def judge(
    ask: Callable[[tuple[Message, ...], int], Awaitable[Reply]],
    *,
    problem: str,
    target: str,
    candidate: str,
    votes: int,
) -> Judgement:
    """Return the judgement on one candidate; `ask` sends messages to the judge as the given draw."""
    messages = judge_messages(problem, target, candidate)
    ballot = Ballot(votes=votes)
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, (await ask(messages, draw)).text)
    return Judgement(verdict=ballot.result, explanation=ballot.explanation, tally=ballot.tally.to_json())
