"""Asks a judge as often as its ballot demands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from pytest_llmeval.judge.judgement import Judgement
from pytest_llmeval.judge.prompt import judge_messages
from pytest_llmeval.judge.voting import Ballot
from pytest_llmeval.records import Message, Reply

Ask: TypeAlias = Callable[[tuple[Message, ...], int], Awaitable[Reply]]
"""Sends messages to the judge as the given draw."""


async def judge(  # noqa: PLR0913 - a case has that many parts
    ask: Ask, *, name: str, problem: str, target: str, candidate: str, votes: int
) -> Judgement:
    """Return the judgement of the judge called `name` on one candidate."""
    messages = judge_messages(problem, target, candidate)
    ballot = Ballot(votes=votes)
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, (await ask(messages, draw)).text)
    return Judgement(verdict=ballot.result, explanation=ballot.explanation, tally=ballot.tally.to_json(), judge=name)
