"""The model calls made on behalf of one sample, and the transcript they leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_llmeval.engine.models import Models
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


class Calls:
    """Asks the run's models for one sample and one epoch."""

    def __init__(self, models: Models, ticket: Ticket, *, epoch: int = 1) -> None:
        """Ask `models` with the sample's `ticket`."""
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
        """Append an event that is no model call."""
        self._events.append(event)

    async def ask(  # noqa: PLR0913 - a request has that many parts
        self,
        model: ModelSpec,
        messages: Sequence[Message],
        *,
        stage: str,
        parameters: Mapping[str, Json],
        draw: int = 0,
        operation: Operation = "chat",
        role: Role = "solver",
    ) -> Reply:
        """Return a model's reply; the call, also a failed one, is appended to the transcript."""
        request = Request(
            operation=operation,
            role=role,
            provider=model.kind,
            model=model.name,
            route=model.route,
            parameters=model.requested(parameters, epoch=self.epoch, draw=draw),
            messages=tuple(messages),
            epoch=self.epoch,
            draw=draw,
        )
        asked = Asked(
            stage=stage,
            role=role,
            model=model.text,
            operation=operation,
            parameters=request.parameters,
            messages=request.messages,
            draw=draw,
            key=request.key,
        )
        try:
            answer = await self._models.ask(model.bare, request, self._ticket)
        except ProviderError as error:
            self._events.append(FailedCall(asked=asked, error=str(error)))
            raise
        self._events.append(
            ModelCall(
                asked=asked,
                reply=answer.reply,
                cached=answer.cached,
                age=answer.age,
                other_run=answer.other_run,
                attempts=answer.attempts,
            )
        )
        return answer.reply
