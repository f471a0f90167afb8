"""Whoever talks to the model, and how that ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from pytest_llmeval.records import Message
from pytest_llmeval.solvers.turns.conversation import Conversation

ENDINGS: Final[Mapping[str, str]] = {
    "messages": "every message of the dataset is answered",
    "stop": "the user wrote the stop word",
    "turns": "the limit of turns",
    "max_seconds": "the limit of time",
    "no answer": "the model's reply has no text, or calls tools to the last",
}
"""Why conversations end."""


class User(Protocol):
    """Whoever talks to the model."""

    @property
    def ending(self) -> str:
        """Why the conversation ends when the user has nothing more to say: a key of `ENDINGS`."""
        ...

    @property
    def over(self) -> bool:
        """Whether the user is known to have nothing more to say."""
        ...

    @property
    def answers(self) -> bool:
        """Whether what comes next is a reply in place of the model's."""
        ...

    async def says(self, conversation: Conversation) -> Sequence[Message]:
        """Return what the user says next; nothing if that is nothing."""
        ...
