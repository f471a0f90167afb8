"""The model under test in a conversation, with or without tools."""

from __future__ import annotations

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Json, Reply, StopReason
from pytest_llmeval.solvers.agent.loop import Loop
from pytest_llmeval.solvers.limits import OwnTime
from pytest_llmeval.solvers.turns.conversation import Conversation


class Speaker:
    """Answers the user, and keeps how the replies ended."""

    def __init__(self, context: SolverContext, loop: Loop | None, time: OwnTime) -> None:
        """Ask the model of `context`, within a turn by the `loop` of calls if there is one."""
        self._context, self._loop, self._time = context, loop, time
        self._replies: list[Reply] = []
        self._reason = ""

    async def answer(self, talk: Conversation) -> bool:
        """Add the model's answer to the user; return whether there is one."""
        stage, sent = f"turn {talk.replies + 1}", talk.messages
        if self._loop is None:
            reply = await self._context.generate(sent, stage=stage)
            self._time.add(reply.latency)
        else:
            end = await self._loop.answer(sent, stage=f"{stage}.")
            reply, sent, self._reason = end.reply, end.messages, end.reason
        self._replies.append(reply)
        talk.answer(reply, sent=sent)
        return bool(reply.text.strip()) and not self._reason

    @property
    def stop_reason(self) -> StopReason:
        """Why the first reply that was cut ended, or else the last one."""
        found: list[StopReason] = [one.stop_reason for one in self._replies]
        return next((one for one in found if one not in {"stop", "tool_calls"}), found[-1])

    @property
    def findings(self) -> dict[str, Json]:
        """Details of the calls of tools, and why the last turn has no answer if that is known."""
        calls = {} if self._loop is None else self._loop.box.findings()
        return {**calls, **({"reason": self._reason} if self._reason else {})}
