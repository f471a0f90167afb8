"""The loop of calls: a model is asked until a reply calls no tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Json, Message, Reply
from pytest_llmeval.solvers.agent.calling import Calling
from pytest_llmeval.solvers.agent.toolbox import Toolbox
from pytest_llmeval.solvers.limits import Limits, OwnTime


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopEnd:
    """How a loop of calls ended.

    Attributes:
        messages: what was sent with the last request: the calls and their results included.
        reply: the last reply.
        turns: number of replies.
        reason: why the reply is no answer; "" if it is one.
    """

    messages: tuple[Message, ...]
    reply: Reply
    turns: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A model and its tools in one sample.

    Attributes:
        context: asks the model.
        calling: how calls are written.
        variables: those of the prompt.
        box: runs them.
        limits: `turns` of one `answer`, and the calls of the sample.
        time: the sample's own time.
    """

    context: SolverContext
    calling: Calling
    variables: Mapping[str, Json]
    box: Toolbox
    limits: Limits
    time: OwnTime

    async def answer(self, messages: Sequence[Message], *, stage: str = "turn ") -> LoopEnd:
        """Return the first reply without a call, or the last one that the limits allow.

        Args:
            messages: the conversation.
            stage: how the stages of the requests begin; the number of the reply follows.
        """
        calling, box = self.calling, self.box
        first_is_last = self.limits.last(1, calls=box.calls)
        sent = tuple(calling.opened(messages, last=first_is_last))
        for turn in range(1, self.limits.turns + 1):
            last, named = self.limits.last(turn, calls=box.calls), f"{stage}{turn}"
            reply = await self.context.generate(
                sent, stage=named, parameters=calling.parameters(last=last)
            )
            self.time.add(reply.latency)
            calls = calling.read(reply)
            if last or not calls:
                break
            number = box.calls + 1
            results = await box.results(calls, stage=named)
            if self.time.over:
                break
            next_last = self.limits.last(turn + 1, calls=box.calls)
            told = calling.told(reply, calls, results, number=number, last=next_last)
            sent = (*sent, *told)
        reason = self._reason(turn) if calls else ""
        return LoopEnd(messages=sent, reply=reply, turns=turn, reason=reason)

    def _reason(self, turn: int) -> str:
        """Return why there is no answer, after a turn in which the model called tools."""
        limits = self.limits
        if self.time.over:
            return f"the {self.time.most:g} s of max_seconds were over in turn {turn}"
        if turn < limits.turns:
            return f"the model still called tools after the {limits.max_calls} calls of max_calls"
        return f"the model still called tools in the last of {limits.turns} turns"
