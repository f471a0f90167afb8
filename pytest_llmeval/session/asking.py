"""The values of the fixtures `judge` and `llm`, by which a test body asks the run's models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias, cast

from pytest_llmeval.records import Completion, Json, Message, Reply, Role, Sample
from pytest_llmeval.roles import SOLVER
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.scoring.judge.scorer import JudgeScorer

Ask: TypeAlias = Callable[[str, Mapping[str, Json]], Json]
"""Sends a wish and its arguments to the engine, and returns the answer; see `Run.answer`."""


class Asking(Protocol):
    """What the run's judge uses of the test in which it is called."""

    def ask(self, want: str, wish: Mapping[str, Json]) -> Json:
        """Return the engine's answer to a wish of the test; see `Run.answer`."""
        ...

    def prepare(self, scorer: list[Json], sample: Sample, completion: Completion) -> Json:
        """Return what a scorer prepares for an answer; its calls are the test's."""
        ...


class RunningJudge:
    """The run's judge: the value of the fixture `judge`."""

    def __init__(self, test: Asking) -> None:
        """Judge on behalf of a test."""
        self._test = test

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
        completion = Completion(text=candidate, answer=candidate)
        scorer: list[Json] = ["judge", {"votes": votes, **options}]
        return Judgement.from_json(self._test.prepare(scorer, sample, completion))

    def grader(self, votes: int) -> str:
        """Return who judges when each judge is asked `votes` times; see `grader_text`.

        Raises:
            LLMEvalError: the engine cannot tell the judges.
        """
        scorer = JudgeScorer(votes=votes)
        judges = self._test.ask("judges", {"scorer": list(scorer.spec)})
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
