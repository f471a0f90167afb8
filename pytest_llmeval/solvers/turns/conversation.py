"""A conversation of a user and the model under test: what is sent, and what both can read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_llmeval.records import Message, Reply

_SPEAKERS = {"user": "User", "assistant": "Assistant"}

_OTHER = {"user": "assistant", "assistant": "user"}


class Conversation:
    """What was said so far.

    Attributes:
        messages: what the model is sent: the prompt, the texts of both sides, the calls of tools
            and their results.
        said: what both sides can read, as text: messages of the roles user and assistant. Of the
            prompt it is the last message alone, unless that is the system's: what stands before it
            are examples.
        replies: how often the model answered.
    """

    def __init__(self, prompt: Sequence[Message]) -> None:
        """Begin with the messages of the prompt."""
        self.messages = tuple(prompt)
        self.said: tuple[Message, ...] = ()
        self.replies = 0
        self._read(self.messages[-1:])

    @property
    def waits_for_model(self) -> bool:
        """Whether the user spoke last."""
        return self.messages[-1:] != () and self.messages[-1].role == "user"

    def hear(self, messages: Iterable[Message]) -> None:
        """Add what the user says; in given conversations also what comes before it."""
        told = tuple(messages)
        self.messages += told
        self._read(told)

    def answer(self, reply: Reply, *, sent: Sequence[Message]) -> None:
        """Add a reply of the model: its visible text.

        Args:
            reply: the reply.
            sent: the messages of its request.
        """
        told = Message.of("assistant", reply.text)
        self.messages = (*sent, told)
        self._read([told])
        self.replies += 1

    @property
    def from_the_other_side(self) -> tuple[Message, ...]:
        """What was said as the user's own model is sent it: the user is the assistant."""
        return tuple(Message.of(_OTHER[one.role], one.text) for one in self.said if one.text)

    @property
    def text(self) -> str:
        """What was said as one text, with a heading before each message.

        Every line of a message is indented, and no heading is, so that no message can bring a
        heading of its own. Turns count the user's messages::

            User, turn 1:
                What is the capital of France?

            Assistant, turn 1:
                Paris.
        """
        blocks, turn = [], 0
        for message in self.said:
            turn += message.role == "user"
            # All that any reader may take for the end of a line, such as U+2028, is one here.
            lines = [f"    {line}".rstrip() for line in message.text.splitlines()]
            blocks.append("\n".join([f"{_SPEAKERS[message.role]}, turn {turn}:", *lines]))
        return "\n\n".join(blocks)

    def _read(self, messages: Iterable[Message]) -> None:
        self.said += tuple(
            Message.of(one.role, one.text) for one in messages if one.role in _SPEAKERS
        )
