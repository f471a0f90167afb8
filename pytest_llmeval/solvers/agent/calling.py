"""How calls travel between a model and its tools: the port `Calling`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pytest_llmeval.records import Json, Message, Reply
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall


class Calling(Protocol):
    """One way in which a model calls tools and is told their results."""

    @property
    def described(self) -> str:
        """What the prompt tells of the tools; "" if they go with the request's parameters."""
        ...

    def parameters(self, *, last: bool) -> dict[str, Json]:
        """Return the parameters of a request; that of the `last` turn forbids calls."""
        ...

    def opened(self, messages: Sequence[Message], *, last: bool) -> Sequence[Message]:
        """Return the messages of the first request; if its turn is the `last`, they may say so."""
        ...

    def read(self, reply: Reply) -> Sequence[WrittenCall]:
        """Return the calls of a reply, in order; none if it is the final one."""
        ...

    def told(
        self,
        reply: Reply,
        calls: Sequence[WrittenCall],
        results: Sequence[str],
        *,
        number: int,
        last: bool,
    ) -> Sequence[Message]:
        """Return what a reply with calls adds to the conversation: the reply, and the results.

        Args:
            reply: the reply.
            calls: what `read` returned for it.
            results: a text for each call.
            number: number of the first of these calls within the sample, from 1.
            last: whether the next reply is the last one.
        """
        ...
