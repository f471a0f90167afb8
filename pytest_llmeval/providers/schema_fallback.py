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
        if request.role == SOLVER or _SCHEMA not in request.parameters:
            return await chat(request)
        parameters = {name: value for name, value in request.parameters.items() if name != _SCHEMA}
        plain = replace(request, parameters=parameters)
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
