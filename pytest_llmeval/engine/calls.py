"""The model calls of one sample, and their transcript."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.engine.blocking import run_in_thread
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.reasoning import with_reasoning_apart
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import (
    Asked,
    Event,
    FailedCall,
    Json,
    Message,
    ModelCall,
    Operation,
    Reply,
    Request,
    Role,
    StageNote,
    ToolUse,
    Transcript,
)
from pytest_llmeval.roles import JUDGE, SOLVER

_LONG: Final = 200_000
"""Characters of a text above which reasoning is set apart beside the event loop: a hostile text of
10 MB takes seconds."""


class Calls:
    """Sends the requests of one sample in one epoch, and records them in a transcript.

    Attributes:
        epoch: number of the sample's repetition, from 1.
    """

    def __init__(self, models: Models, ticket: Ticket, *, epoch: int = 1) -> None:
        """Send requests through `models`, queued by the sample's `ticket`."""
        self._models, self._ticket, self.epoch = models, ticket, epoch
        self._events: list[Event] = []

    @property
    def transcript(self) -> Transcript:
        """The events so far."""
        return Transcript(events=tuple(self._events))

    def branch(self) -> Calls:
        """Return calls for the same sample and epoch with an empty transcript."""
        return Calls(self._models, self._ticket, epoch=self.epoch)

    def join(self, branches: Sequence[Calls]) -> None:
        """Append the transcripts of `branches`, in their order."""
        for branch in branches:
            self._events += branch.transcript.events

    def note(self, event: ToolUse | StageNote) -> None:
        """Append the use of a tool, which has just ended, or a remark."""
        self._events.append(replace(event, at=time.time()) if isinstance(event, ToolUse) else event)

    async def ask(  # noqa: PLR0913 - the parts of a request
        self,
        model: ModelSpec,
        messages: Sequence[Message],
        *,
        stage: str,
        parameters: Mapping[str, Json],
        draw: int = 0,
        operation: Operation = "chat",
        role: Role = SOLVER,
        scorer: str = "",
    ) -> Reply:
        """Return a model's reply; the call is appended to the transcript, even if it fails.

        Every reply of every provider, new or stored, passes here; its reasoning is set apart.

        Args:
            model: the model to ask.
            messages: the conversation.
            stage: step of the solver or scorer, for the transcript.
            parameters: of the request, such as ``temperature``; the model's own override them.
            draw: number, from 0, of an otherwise equal request.
            operation: whether a message or a picture is requested.
            role: as what the model is asked.
            scorer: name of the scorer that asks; "" for a solver or a test body.

        Raises:
            ProviderError: the call failed for good.
            LLMEvalError: the model is lost, or the run has ended.
        """
        request = Request(
            operation=operation,
            role=role,
            provider=model.kind,
            model=model.name,
            route=_route(model, role, scorer),
            parameters=model.requested(parameters, epoch=self.epoch, draw=draw),
            messages=tuple(messages),
            epoch=self.epoch,
            draw=draw,
        )
        return await self._recorded(request, model, stage, scorer)

    async def _recorded(self, request: Request, model: ModelSpec, stage: str, scorer: str) -> Reply:
        """Return the reply to a request, and append the call to the transcript."""
        asked = Asked(
            stage=stage,
            role=request.role,
            scorer=scorer,
            model=model.text,
            operation=request.operation,
            parameters=request.parameters,
            messages=request.messages,
            draw=request.draw,
            key=request.key,
        )
        try:
            answer = await self._models.ask(model.bare, request, self._ticket)
        except ProviderError as error:
            self._events.append(
                FailedCall(
                    asked=asked,
                    error=str(error),
                    cause=error.cause,
                    failures=error.failures,
                    at=time.time(),
                )
            )
            raise
        # Stored replies stay as they came, so that old ones are read by the same rules.
        reply = await _with_reasoning_apart(answer.reply)
        self._events.append(
            ModelCall(
                asked=asked,
                reply=reply,
                cached=answer.cached,
                age=answer.age,
                other_run=answer.other_run,
                attempts=answer.attempts,
                failures=answer.failures,
                at=time.time(),
            )
        )
        return reply


def _route(model: ModelSpec, role: Role, scorer: str) -> str:
    """Return the route of a request.

    A recording has a reply to a request for each role, so the role of a solver's partner is in the
    identity. That of the model under test, and of judges, is not: their keys stay those of earlier
    runs.
    """
    if not model.recorded or role == SOLVER or (role == JUDGE and scorer):
        return model.route
    return f",role={role}"


async def _with_reasoning_apart(reply: Reply) -> Reply:
    if len(reply.text) <= _LONG:
        return with_reasoning_apart(reply)
    return await run_in_thread(with_reasoning_apart, reply)
