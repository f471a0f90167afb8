"""What a test body may ask of the run's models: the fixtures `judge` and `llm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from pytest_llmeval.records import Completion, Json, Message, Reply, Sample
from pytest_llmeval.scoring.judge.judgement import Judgement

Ask: TypeAlias = Callable[[str, Mapping[str, Json]], Json]
"""Sends a wish to the engine and returns its answer."""


class RunningJudge:
    """The run's judge, as a test calls it."""

    def __init__(self, ask: Ask) -> None:
        """Send wishes by `ask`, on behalf of a test."""
        self._ask = ask

    def __call__(self, *, problem: str, target: str, candidate: str, votes: int = 1) -> Judgement:
        """Return the judgement on one candidate; equal questions are asked once."""
        __tracebackhide__ = True
        sample = Sample(id="", input=problem, target=target)
        wish: dict[str, Json] = {
            "scorer": ["judge", {"votes": votes}],
            "sample": sample.to_json(),
            "completion": Completion(text=candidate, answer=candidate).to_json(),
        }
        answered = cast("dict[str, Json]", self._ask("prepare", wish))
        return Judgement.from_json(answered["prepared"])


class LLM:
    """The model under test, for tests that ask it directly."""

    def __init__(self, ask: Ask) -> None:
        """Send wishes by `ask`, on behalf of a test."""
        self._ask = ask

    def generate(
        self, messages: str | list[Message], *, draw: int = 0, **parameters: Json
    ) -> Reply:
        """Return the reply to `messages`; a text is one user message.

        Equal requests are asked once per `draw`.
        """
        __tracebackhide__ = True
        if isinstance(messages, str):
            messages = [Message.of("user", messages)]
        wish: dict[str, Json] = {
            "messages": [message.to_json() for message in messages],
            "parameters": dict(parameters),
            "draw": draw,
        }
        return Reply.from_json(self._ask("generate", wish))
