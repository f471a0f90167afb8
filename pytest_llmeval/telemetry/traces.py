"""The trace of a run: spans from its rows and transcripts, by the SDK of OpenTelemetry."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Final

from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
)
from opentelemetry.trace import Span as OpenSpan
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Row, RowKey, Transcript
from pytest_llmeval.telemetry.exporter import FileExporter, Guarded
from pytest_llmeval.telemetry.samples import sample_span
from pytest_llmeval.telemetry.span import Span, Value

CONTENTS: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The variable that lets messages into spans; by default they hold no text of a model."""

_QUEUE: Final = 1 << 16
"""Spans that wait for a receiver, at most; recorded replies come faster than any receiver."""

_NANOSECONDS: Final = 1_000_000_000


class Traces:
    """Makes the spans of one run: the run, its samples, and within them requests and tools.

    A sample's spans are made when its row is reported, with the times at which things happened.
    """

    def __init__(self, exporter: SpanExporter, name: str) -> None:
        """Send spans to an exporter.

        Args:
            exporter: where they go; it is closed with the trace.
            name: what the user called it.
        """
        self._exporter = Guarded(exporter, name)
        variable = os.environ.get(CONTENTS, "")
        self._contents = variable.lower() in {"true", "span_only", "span_and_event"}
        self._redactor = Redactor.of(os.environ)
        self._transcripts: dict[RowKey, Transcript] = {}
        self._provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(
            SimpleSpanProcessor(self._exporter)
            if isinstance(exporter, FileExporter)
            else BatchSpanProcessor(self._exporter, max_queue_size=_QUEUE)
        )
        self._tracer = self._provider.get_tracer("pytest_llmeval")
        self._run: OpenSpan = self._tracer.start_span("run")

    def keep_transcript(self, key: RowKey, transcript: Transcript) -> None:
        """Keep what happened for a row until the row is reported; the last one counts."""
        self._transcripts[key] = transcript

    def add(self, row: Row) -> None:
        """Send the spans of a row that was just reported."""
        transcript = self._transcripts.pop(row.key, Transcript())
        span = sample_span(row, transcript, reported=time.time(), contents=self._contents)
        self._send(span, self._run)

    def close(self, attributes: Mapping[str, Value]) -> str | None:
        """End the run's span and send what waits; return a remark if spans were lost.

        Args:
            attributes: facts about the run.
        """
        for name, value in self._redacted(attributes).items():
            self._run.set_attribute(name, value)
        self._run.end()
        self._exporter.end()
        self._provider.shutdown()
        return self._exporter.remark

    def _send(self, span: Span, parent: OpenSpan) -> None:
        opened = self._tracer.start_span(
            span.name,
            set_span_in_context(parent),
            kind=SpanKind.CLIENT if span.sent else SpanKind.INTERNAL,
            attributes=self._redacted(span.attributes),
            start_time=_nanoseconds(span.start),
        )
        for mark in span.marks:
            opened.add_event(mark.name, self._redacted(mark.attributes), _nanoseconds(span.end))
        if span.error is not None:
            opened.set_status(Status(StatusCode.ERROR, self._text(span.error)))
        for child in span.children:
            self._send(child, opened)
        opened.end(_nanoseconds(span.end))

    def _redacted(self, attributes: Mapping[str, Value]) -> dict[str, Value]:
        return {name: self._without_secrets(value) for name, value in attributes.items()}

    def _without_secrets(self, value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(self._text, value))
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        """Return a text without secrets, and without halves of pairs, which no exporter takes."""
        return self._redactor.text(text).encode("utf-8", "replace").decode()


def _resource() -> Resource:
    """Return who sends the spans: by OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES."""
    named = Resource.create()
    if str(named.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return named.merge(Resource({SERVICE_NAME: "llmeval"}))
    return named


def _nanoseconds(seconds: float) -> int:
    """Return a moment as spans have it; 1970 for earlier ones, with which a whole batch is lost."""
    return max(0, round(seconds * _NANOSECONDS))
