"""Judges that answer from a script (for `JudgeScorer.judged` and `prepare`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_llmeval.records import Image, Json, Message, Reply, Role

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """A request to a judge."""

    model: str
    role: Role
    messages: tuple[Message, ...]
    draw: int
    parameters: Mapping[str, Json]


@dataclass
class Judges:
    """A scorer's context, whose models do what is said of each.

    Attributes:
        does: by model, a function of the draw that returns a reply, or raises.
        asked: the requests, of branches too once they are joined.
        images: the sample's pictures.
    """

    does: Mapping[str, Callable[[int], Reply | str]]
    asked: list[Asked] = field(default_factory=list)
    images: tuple[Image, ...] = ()
    epoch = 1

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.does)

    async def generate(  # noqa: PLR0913 - the port's
        self,
        messages: Sequence[Message],
        *,
        model: str,
        stage: str,
        role: Role = "judge",
        draw: int = 0,
        parameters: Mapping[str, Json] | None = None,
    ) -> Reply:
        assert stage == "judge"
        self.asked.append(Asked(model, role, tuple(messages), draw, parameters or {}))
        reply = self.does[model](draw)
        return Reply(text=reply) if isinstance(reply, str) else reply

    async def shared(self, key: str, start: Callable[[], T]) -> T:
        raise NotImplementedError

    def branch(self) -> Judges:
        return Judges(self.does, images=self.images)

    def join(self, branches: Sequence[Judges]) -> None:
        for one in branches:
            self.asked += one.asked


def saying(*replies: Reply | str) -> Callable[[int], Reply | str]:
    """Return a judge that gives these replies in turn, the last one for ever."""
    return lambda draw: replies[min(draw, len(replies) - 1)]


def failing(error: BaseException) -> Callable[[int], Reply]:
    """Return a judge that fails."""

    def fail(_: int) -> Reply:
        raise error

    return fail
