"""The user whom a model plays."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Message, Role
from pytest_llmeval.solvers.limits import OwnTime
from pytest_llmeval.solvers.turns.conversation import Conversation

_MARKS = " \t.,!?*_`\"'()[]<>#-"
"""What may stand around a stop word that is alone in its line."""


class SimulatedUser:
    """Asks the model of a role what the user says next.

    It is sent its own prompt, which never has the target, and the conversation from its side.
    """

    ending = "stop"
    answers = False

    def __init__(
        self,
        context: SolverContext,
        prompt: Sequence[Message],
        *,
        role: Role,
        stop: str,
        time: OwnTime,
    ) -> None:
        """Play the user.

        Args:
            context: asks the model.
            prompt: the messages before the conversation.
            role: the model's role.
            stop: the word by which the user ends the conversation.
            time: the sample's own time.
        """
        self._context, self._prompt, self._time = context, tuple(prompt), time
        self._role, self._stop = role, stop
        self.over = False

    async def says(self, conversation: Conversation) -> Sequence[Message]:
        """Return what the user says next; nothing if it ends the conversation.

        Raises:
            LLMEvalError: the reply holds no text, or ends what has not begun; neither is the fault
                of the model under test.
        """
        turn = conversation.replies + 1
        reply = await self._context.generate(
            (*self._prompt, *conversation.from_the_other_side),
            stage=f"{self._role} {turn}",
            role=self._role,
        )
        self._time.add(reply.latency)
        if not reply.text.strip():
            why = f"stop reason: {reply.stop_reason}"
            problem = f"its message of turn {turn} holds no text ({why})"
            raise self._failure(problem)
        self.over = stops(reply.text, self._stop)
        if self.over and not conversation.replies:
            problem = f"it wrote {self._stop} before the model could say anything"
            raise self._failure(problem)
        return () if self.over else (Message.of("user", reply.text),)

    def _failure(self, problem: str) -> LLMEvalError:
        return LLMEvalError(f"the simulated user (the model of the role {self._role}): {problem}")


def stops(text: str, stop: str) -> bool:
    """Return whether a message ends the conversation: the stop word ends it, or is a line alone.

    Case counts. Marks around the word, as in ``**DONE**`` or ``DONE.``, do not.
    """
    bare = stop.strip(_MARKS)
    if any(line.strip(_MARKS) == bare for line in text.splitlines()):
        return True
    before, found, behind = text.rpartition(stop)
    return bool(found) and not before[-1:].isalnum() and not any(map(str.isalnum, behind))
