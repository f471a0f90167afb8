"""Asking judges with a JSON schema for the verdict, and without it where that is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.records import Reply, Request
from pytest_llmeval.roles import SOLVER

_SCHEMA: Final = "response_format"


class SchemaFallback:
    """Sends requests of judges without their JSON schema once an endpoint has refused it.

    A judge's request has a JSON schema for the verdict. If the endpoint refuses the schema, that
    request and all later ones of judges, and of other roles than the model under test, are sent
    without it: the judge's prompt demands the same JSON, and replies are read the same way.
    """

    def __init__(self, refuses_schema: Callable[[Exception], bool]) -> None:
        """Begin with the schema.

        Args:
            refuses_schema: whether a failed call says that the schema is what is refused.
        """
        self._refuses_schema, self._refused = refuses_schema, False

    async def send(self, request: Request, chat: Callable[[Request], Awaitable[Reply]]) -> Reply:
        """Return the reply to a request; raises what `chat` raises.

        Args:
            request: the request.
            chat: sends it, once.
        """
        if not _has_schema(request):
            return await chat(request)
        plain = _without_schema(request)
        if self._refused:
            return await chat(plain)
        try:
            return await chat(request)
        except Exception as error:
            if not self._refuses_schema(error):
                raise
        reply = await chat(plain)
        self._refused = True
        return reply

    def settled(self, request: Request) -> Request:
        """Return a request as it is sent by what is known so far, such as in a batch."""
        return _without_schema(request) if self._refused and _has_schema(request) else request

    def learned(self, request: Request, error: Exception) -> bool:
        """Return whether the schema of a request was refused, which is remembered."""
        refused = _has_schema(request) and self._refuses_schema(error)
        self._refused = self._refused or refused
        return refused


def _has_schema(request: Request) -> bool:
    return request.role != SOLVER and _SCHEMA in request.parameters


def _without_schema(request: Request) -> Request:
    parameters = {name: value for name, value in request.parameters.items() if name != _SCHEMA}
    return replace(request, parameters=parameters)
