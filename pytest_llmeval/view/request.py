"""What a browser asks of the server, and what it gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from pytest_llmeval.records import Json

HTML = "text/html; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, its address taken apart.

    Attributes:
        method: ``GET``, ``HEAD`` or ``POST``.
        path: the segments of the address's path, decoded: ``("",)`` of ``/``.
        query: the last value of each parameter.
        headers: by name in lower case.
        body: of a POST.
    """

    method: str
    path: tuple[str, ...]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer: status, media type, body, and headers beside those that every answer has."""

    status: HTTPStatus = HTTPStatus.OK
    media_type: str = HTML
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """A request that gets an answer other than what it asked for."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        """Take the status and one sentence for whoever asked."""
        super().__init__(message)
        self.status = status


def json_response(value: Json) -> Response:
    """Return a value as JSON."""
    body = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    return Response(media_type=JSON, body=body)


def unchanged(request: Request, tag: str) -> bool:
    """Whether the asker has the version `tag` already."""
    return request.headers.get("if-none-match") == f'"{tag}"'


NOT_MODIFIED = Response(status=HTTPStatus.NOT_MODIFIED)
