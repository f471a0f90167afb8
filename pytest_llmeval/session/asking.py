"""The values of the fixtures `judge` and `llm`, by which a test body asks the run's models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from pytest_llmeval.records import Completion, Json, Message, Reply, Role, Sample
from pytest_llmeval.roles import SOLVER
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.scoring.judge.scorer import JudgeScorer

Ask: TypeAlias = Callable[[str, Mapping[str, Json]], Json]
"""Sends a wish and its arguments to the engine, and returns the answer; see `Run.answer`."""


class RunningJudge:
    """The run's judge: the value of the fixture `judge`."""

    def __init__(self, ask: Ask) -> None:
        """Send wishes by `ask`."""
        self._ask = ask

    def __call__(
        self,
        *,
        problem: str,
        candidate: str,
        target: str = "",
        metadata: Mapping[str, Json] | None = None,
        votes: int = 1,
        **options: Json,
    ) -> Judgement:
        """Return the judgement on one answer; equal questions are sent once.

        Example: ``judge(problem="Say hi.", candidate="Hi!", prompt="helpfulness")``.

        Args:
            problem: the question that was answered.
            candidate: the answer to judge.
            target: the reference answer.
            metadata: further texts that the prompt uses, such as ``context``.
            votes: number of times that each judge is asked.
            options: further options of the scorer ``judge``, such as ``prompt`` and ``scale``.

        Raises:
            LLMEvalError: no judge is configured, it failed, or an option is wrong.
        """
        __tracebackhide__ = True
        sample = Sample(id="", input=problem, target=target, metadata=metadata or {})
        wish: dict[str, Json] = {
            "scorer": ["judge", {"votes": votes, **options}],
            "sample": sample.to_json(),
            "completion": Completion(text=candidate, answer=candidate).to_json(),
        }
        answered = cast("dict[str, Json]", self._ask("prepare", wish))
        return Judgement.from_json(answered["prepared"])

    def grader(self, votes: int) -> str:
        """Return who judges when each judge is asked `votes` times; see `grader_text`.

        Raises:
            LLMEvalError: the engine cannot tell the judges.
        """
        scorer = JudgeScorer(votes=votes)
        judges = self._ask("judges", {"scorer": list(scorer.spec)})
        return grader_text(scorer, cast("list[str]", judges))


class LLM:
    """The models of the run, first of all the one under test: the value of the fixture `llm`."""

    def __init__(self, ask: Ask) -> None:
        """Send wishes by `ask`."""
        self._ask = ask

    def generate(
        self,
        messages: str | list[Message],
        *,
        draw: int = 0,
        role: Role = SOLVER,
        **parameters: Json,
    ) -> Reply:
        """Return the reply of the model under test, or of the one that the run has for a role.

        Examples: ``llm.generate("Why is the sky blue?", temperature=0)``,
        ``llm.generate("Is this polite?", role="grader")``.

        Args:
            messages: the conversation; a text is one user message.
            draw: number, from 0; equal requests are sent once for each draw.
            role: as what a model is asked (``--llmeval-model ROLE=SPEC``).
            parameters: of the request, such as ``temperature``.

        Raises:
            LLMEvalError: no model is configured for the role, or it failed.
        """
        __tracebackhide__ = True
        if isinstance(messages, str):
            messages = [Message.of("user", messages)]
        wish: dict[str, Json] = {
            "messages": [message.to_json() for message in messages],
            "parameters": dict(parameters),
            "draw": draw,
            "role": role,
        }
        return Reply.from_json(self._ask("generate", wish))
