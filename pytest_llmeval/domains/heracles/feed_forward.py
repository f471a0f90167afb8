"""The first half of a feed-forward pipeline: the model writes something that runs, and mends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Message, Reply, ToolUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote and what it gave.

    Attributes:
        reply: the model's last reply.
        use: the run of what stood in it, None if nothing did.
        reason: why there is no result, None when there is one.
        turns: number of replies.
    """

    reply: Reply
    use: ToolUse | None
    reason: str | None
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What a model is to write.

    Attributes:
        extract: takes the text that is to run out of a reply; None when there is none.
        missing: reason that the model is told then.
        repair_request: message about a failure (str.format field: reason).
    """

    extract: Callable[[str], str | None]
    missing: str
    repair_request: str


async def write_and_run(
    context: SolverContext,
    messages: tuple[Message, ...],
    language: Language,
    run: Callable[[str, str], Awaitable[ToolUse]],
    *,
    repair: int,
) -> Written:
    """Ask the model, run what it wrote, and send a failure back to it, at most `repair` times.

    Args:
        context: the context of the solver.
        messages: the first request, of the stage ``generate``; later ones are ``repair``.
        language: what the model is to write.
        run: runs a text in a stage.
        repair: how often a failure goes back.
    """
    stage, turns = "generate", 0
    while True:
        reply = await context.generate(messages, stage=stage)
        turns += 1
        text = language.extract(reply.text)
        use = None if text is None else await run(text, stage)
        reason = language.missing if use is None else use.error
        if reason is None or turns > repair:
            return Written(reply=reply, use=use, reason=reason, turns=turns)
        request = Message.of("user", language.repair_request.format(reason=reason))
        messages = (*messages, Message.of("assistant", reply.text), request)
        stage = "repair"


def check_repair(repair: int, what: str) -> None:
    """Raise ValueError unless a solver's option ``repair`` is a whole number from 0."""
    if type(repair) is not int or repair < 0:
        msg = (
            f"repair is {repair!r}; "
            f"it is how often a failed {what} goes back, a whole number from 0"
        )
        raise ValueError(msg)
