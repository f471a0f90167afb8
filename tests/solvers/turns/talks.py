"""A solver's context in which a model and a user talk by a script, and every request is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from scripted_context import Asked, ScriptedContext

from pytest_llmeval.records import Completion, Json, Message, Reply, Sample
from pytest_llmeval.solvers.turns.solver import TurnsSolver
from pytest_llmeval.task.options import build

Says = Callable[[int], Reply | str]
"""Returns the reply of a number, from 1."""


class TalkContext(ScriptedContext):
    """Serves prompts by their stages, and replies by role and number."""

    def __init__(self, prompts: Mapping[str, Sequence[Message]], **says: Says) -> None:
        """Take the messages of each stage, and what the model of each role says."""
        super().__init__()
        self._prompts, self._says = prompts, says

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        self.variables = variables
        return tuple(self._prompts[stage])

    async def reply(self, asked: Asked) -> Reply:
        number = len(self.of(asked.role))
        said = self._says[asked.role](number)
        return Reply(text=said) if isinstance(said, str) else said

    def of(self, role: str) -> list[Asked]:
        """Return the requests to a role."""
        return [asked for asked in self.asked if asked.role == role]


def made(**options: Any) -> TurnsSolver:
    """Return the solver that a task file with these options gets."""
    return cast("TurnsSolver", build(TurnsSolver, options, Path()))


def talked(
    context: TalkContext, messages: Sequence[Json] = (), **options: Any
) -> tuple[Completion, list[str]]:
    """Return the completion of a sample, and the texts of the last request."""
    completion = solved_by(made(**options), context, messages)
    return completion, [message.text for message in context.asked[-1].messages]


def solved_by(
    solver: TurnsSolver, context: TalkContext, messages: Sequence[Json] = ()
) -> Completion:
    """Return the completion of a sample with these messages."""
    sample = Sample(id="1", input="?", target=None, metadata={"messages": list(messages)})
    return asyncio.run(solver(sample, context))


def turns(*texts: str) -> tuple[Message, ...]:
    """Return messages of user and assistant in turn."""
    return tuple(
        Message.of("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)
    )
