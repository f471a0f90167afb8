"""The values of the fixtures `judge` and `llm`, by which a test body asks the run's models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from pytest_llmeval.engine.pending import Pending
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Completion, Json, Message, Reply, Role, Sample
from pytest_llmeval.roles import SOLVER
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.judge.built_in import BUILT_IN, EQUIVALENCE
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.scoring.judge.scorer import JudgeScorer


class Asking(Protocol):
    """What the fixtures use of the test in which they are called."""

    def send(self, want: str, wish: Mapping[str, Json]) -> Pending[Json]:
        """Send a wish of the test to the engine; see `Run.answer`."""
        ...

    def prepare(self, scorer: list[Json], sample: Sample, completion: Completion) -> Pending[Json]:
        """Let the engine prepare what a scorer needs for an answer; its calls are the test's."""
        ...


class RunningJudge:
    """The run's judge: the value of the fixture `judge`.

    Called, it judges one answer, and the body waits. `judge_all` judges several at once, and
    `ajudge` is for ``async def`` tests, of which others go on meanwhile.
    """

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
            target: the reference answer; without one `prompt` names a question that needs none.
            metadata: further texts that the prompt uses, such as ``context``.
            votes: number of times that each judge is asked.
            options: further options of the scorer ``judge``, such as ``prompt`` and ``scale``.

        Raises:
            LLMEvalError: no judge is configured, it failed, an option is wrong, or the prompt
                needs a target.
        """
        __tracebackhide__ = True
        question = _question(
            problem=problem,
            candidate=candidate,
            target=target,
            metadata=metadata,
            votes=votes,
            **options,
        )
        return self._sent(question).result()

    async def ajudge(self, **arguments: Any) -> Judgement:  # noqa: ANN401 - those of a call
        """Return what a call with these arguments does, in an ``async def`` test."""
        __tracebackhide__ = True
        return await self._sent(_question(**arguments)).arrival()

    def judge_all(
        self,
        answers: Sequence[Mapping[str, Any]],
        /,
        **common: Any,  # noqa: ANN401 - those of a call
    ) -> list[Judgement]:
        """Return the judgements on several answers, in their order; all are asked at once.

        Example: ``judge.judge_all([{"candidate": one}, {"candidate": two}], problem=question)``.

        Args:
            answers: the arguments of a call, for each answer.
            common: arguments for all of them.

        Raises:
            LLMEvalError: the first that a call would raise, in the order of the answers.
        """
        __tracebackhide__ = True
        questions = [_question(**{**common, **one}) for one in answers]
        return [sent.result() for sent in [self._sent(one) for one in questions]]

    def grader(self, votes: int) -> str:
        """Return who judges when each judge is asked `votes` times; see `grader_text`.

        Raises:
            LLMEvalError: the engine cannot tell the judges.
        """
        scorer = JudgeScorer(votes=votes)
        judges = self._test.send("judges", {"scorer": list(scorer.spec)}).result()
        return grader_text(scorer, cast("list[str]", judges))

    def _sent(self, question: tuple[list[Json], Sample, Completion]) -> Pending[Judgement]:
        """Send a question."""
        __tracebackhide__ = True
        sent = self._test.prepare(*question)
        return sent.then(lambda result: Judgement.from_json(result()))


def _question(
    *,
    problem: str,
    candidate: str,
    target: str = "",
    metadata: Mapping[str, Json] | None = None,
    votes: int = 1,
    **options: Json,
) -> tuple[list[Json], Sample, Completion]:
    """Return scorer, sample and completion by which the engine judges; see `RunningJudge`."""
    __tracebackhide__ = True
    prompt = options.get("prompt") or EQUIVALENCE
    built_in = BUILT_IN.get(prompt) if isinstance(prompt, str) else None
    if built_in is not None and built_in.needs_target and not (target or "").strip():
        msg = f"judge: the prompt {prompt} needs a target; give target=... or another prompt=..."
        raise UsageError(msg)
    sample = Sample(id="", input=problem, target=target, metadata=metadata or {})
    return (
        ["judge", {"votes": votes, **options}],
        sample,
        Completion(text=candidate, answer=candidate),
    )


class LLM:
    """The models of the run, first of all the one under test: the value of the fixture `llm`.

    `generate` asks once, and the body waits. `generate_all` asks several times at once, and
    `agenerate` is for ``async def`` tests, of which others go on meanwhile.
    """

    def __init__(self, test: Asking) -> None:
        """Ask on behalf of a test."""
        self._test = test

    def generate(
        self,
        messages: str | Sequence[Message],
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
        return self._sent(messages, draw, role, parameters).result()

    async def agenerate(
        self,
        messages: str | Sequence[Message],
        *,
        draw: int = 0,
        role: Role = SOLVER,
        **parameters: Json,
    ) -> Reply:
        """Return what `generate` does, in an ``async def`` test: ``await llm.agenerate("...")``."""
        __tracebackhide__ = True
        return await self._sent(messages, draw, role, parameters).arrival()

    def generate_all(
        self,
        conversations: Sequence[str | Sequence[Message]],
        *,
        draw: int = 0,
        role: Role = SOLVER,
        **parameters: Json,
    ) -> list[Reply]:
        """Return the replies to several conversations, in their order; all are asked at once.

        Equal conversations are draws of their own: ``llm.generate_all([question] * 5)`` gives five
        replies.

        Args:
            conversations: each as for `generate`.
            draw: number of the first draw of each conversation.
            role: as for `generate`.
            parameters: of all requests.

        Raises:
            LLMEvalError: the first that `generate` would raise, in the order of the conversations.
        """
        __tracebackhide__ = True
        met = Counter[str]()
        sent = []
        for one in map(_messages, conversations):
            sent.append(self._sent(one, draw + met[repr(one)], role, parameters))
            met[repr(one)] += 1
        return [each.result() for each in sent]

    def _sent(
        self,
        messages: str | Sequence[Message],
        draw: int,
        role: Role,
        parameters: Mapping[str, Json],
    ) -> Pending[Reply]:
        wish: dict[str, Json] = {
            "messages": [message.to_json() for message in _messages(messages)],
            "parameters": dict(parameters),
            "draw": draw,
            "role": role,
        }
        return self._test.send("generate", wish).then(lambda result: Reply.from_json(result()))


def _messages(conversation: str | Sequence[Message]) -> Sequence[Message]:
    """Return the messages of a conversation, of which a text is one user message."""
    return [Message.of("user", conversation)] if isinstance(conversation, str) else conversation
