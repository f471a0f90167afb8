"""The user whose messages stand in the dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_llmeval.records import Json, Message, Sample
from pytest_llmeval.solvers.turns.conversation import Conversation

ROLES: Final = ("user", "assistant", "system")
"""The roles of messages in a dataset."""


class GivenUser:
    """Says one message of a list after the other."""

    ending = "messages"

    def __init__(self, messages: Sequence[Message]) -> None:
        """Take the messages, of which the last one is the user's."""
        self._left = list(messages)

    @property
    def over(self) -> bool:
        """Whether all messages are said."""
        return not self._left

    @property
    def answers(self) -> bool:
        """Whether the next message is a given reply to what was said last."""
        return bool(self._left) and self._left[0].role == "assistant"

    async def says(
        self,
        conversation: Conversation,  # noqa: ARG002 - a parameter of the port
    ) -> Sequence[Message]:
        """Return the messages up to the next one that the model is to answer.

        A message of the user that one of the assistant follows is answered already.
        """
        told = []
        while self._left:
            told.append(self._left.pop(0))
            if told[-1].role == "user" and not self.answers:
                break
        return told


def given_messages(sample: Sample, column: str, skip: int) -> list[Message]:
    """Return the messages of a sample without the first `skip`.

    Raises:
        ValueError: the metadata have no such column, or it holds no conversation.
    """
    listed = sample.metadata.get(column)
    if listed is None:
        msg = (
            f"metadata has no {column!r}, the list of the user's messages; add "
            f"{{{column}: COLUMN}} to dataset.fields.metadata, or name it: column"
        )
        raise ValueError(msg)
    if not isinstance(listed, list) or not listed:
        msg = f"metadata.{column} is {listed!r:.60}, not a list of messages"
        raise ValueError(msg)
    messages = [_message(one, f"metadata.{column}[{at}]") for at, one in enumerate(listed)]
    if messages[-1].role != "user":
        msg = (
            f"metadata.{column} ends with a message of the role {messages[-1].role}, which nobody "
            "is asked for; the last one is the user's"
        )
        raise ValueError(msg)
    if len(messages) < skip:
        msg = f"metadata.{column} has {len(messages)} messages, fewer than skip: {skip}"
        raise ValueError(msg)
    return messages[skip:]


def _message(value: Json, place: str) -> Message:
    role, text = "user", value
    if isinstance(value, dict):
        if value.keys() != {"role", "content"} or value["role"] not in ROLES:
            msg = f"{place} is {value!r:.80}; write {{role: {' | '.join(ROLES)}, content: TEXT}}"
            raise ValueError(msg)
        role, text = str(value["role"]), value["content"]
    if not isinstance(text, str):
        msg = f"{place} is {text!r:.60}, not a text"
        raise ValueError(msg)  # noqa: TRY004 - of a dataset, not of a caller
    if not text.strip():
        msg = f"{place} is empty"
        raise ValueError(msg)
    return Message.of(role, text)
