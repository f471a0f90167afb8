"""A span as plain data: what happened from when to when, and what happened within."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = str | bool | int | float | tuple[str, ...]
"""The value of an attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that happened at the end of a span (an event, in OpenTelemetry's words)."""

    name: str
    attributes: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span and those within it.

    Attributes:
        name: such as ``chat gpt-5.1``; the same for all spans of one kind.
        start: in seconds since 1970.
        end: as above, not before `start`.
        attributes: facts about it.
        sent: whether it is a request to another server.
        error: message of the failure; None if it did not fail.
        marks: what happened at its end.
        children: the spans within it, in order.
    """

    name: str
    start: float
    end: float
    attributes: Mapping[str, Value]
    sent: bool = False
    error: str | None = None
    marks: tuple[Mark, ...] = ()
    children: tuple[Span, ...] = field(default=())
