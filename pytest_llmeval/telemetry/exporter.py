"""Where spans go: an exporter of OpenTelemetry, which may fail without hurting the run."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExporter, SpanExportResult

from pytest_llmeval.errors import UsageError
from pytest_llmeval.safety.printable import described

OPTION: Final = "--llmeval-traces"
_GROUP: Final = "opentelemetry_traces_exporter"
_PROTOCOL: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")


class FileExporter(ConsoleSpanExporter):
    """Appends spans to a file, one JSON object a line."""

    def __init__(self, path: Path) -> None:
        """Open the file; UsageError if that is not possible."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] = path.open("a", encoding="utf-8")
        except OSError as error:
            msg = f"{OPTION}: cannot write {path}: {error.strerror or error}"
            raise UsageError(msg) from error
        super().__init__(out=self._file, formatter=lambda span: f"{span.to_json(indent=None)}\n")

    def shutdown(self) -> None:
        """Close the file."""
        self._file.close()


class Guarded(SpanExporter):
    """An exporter whose first failure is told, and whose failures end nothing.

    While a run goes on, every batch of spans is tried. Once it `ends`, spans go to a receiver that
    has taken all so far, and no batch is tried after a failure: each failure takes as long as the
    exporter has patience (ten seconds by default for OTLP), and a long run has many batches.
    """

    def __init__(self, exporter: SpanExporter, name: str) -> None:
        """Take an exporter and what the user called it."""
        self._exporter, self._name = exporter, name
        self.remark: str | None = None
        self._ending = self._sending = False
        # Without a handler their warnings would be printed between the tests' lines.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export spans; they are lost if that fails."""
        if self._ending and self.remark is not None:
            return SpanExportResult.FAILURE
        self._sending = True
        try:
            return self._tried(lambda: self._exporter.export(spans))
        finally:
            self._sending = False

    def end(self) -> None:
        """Take note that the run has ended, and waits for the spans that are left."""
        self._ending = True

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what the exporter holds back."""
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Close the exporter; spans that are still being sent are lost."""
        if self._sending:
            self._failed("the receiver took too long")
        self._tried(self._exporter.shutdown)

    def _tried(self, act: Callable[[], SpanExportResult | None]) -> SpanExportResult:
        try:
            result = act() or SpanExportResult.SUCCESS
        except Exception as error:  # noqa: BLE001 - of others' code, and of no weight
            self._failed(described(error))
            return SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            self._failed("the receiver could not be reached, or refused them")
        return result

    def _failed(self, why: str) -> None:
        self.remark = self.remark or f"traces ({self._name}): spans were lost: {why}"


def open_exporter(place: str, folder: Path) -> SpanExporter:
    """Return the exporter that the option names.

    Args:
        place: a file ``NAME.jsonl``, ``otlp``, or the name of another installed exporter.
        folder: where a relative path starts.

    Raises:
        UsageError: there is no such exporter, or the file cannot be written.
    """
    if place.endswith(".jsonl"):
        return FileExporter(folder / place)
    protocol = next((os.environ[name] for name in _PROTOCOL if os.environ.get(name)), "")
    name = place
    if place == "otlp":
        name = "otlp_proto_grpc" if protocol == "grpc" else "otlp_proto_http"
    found = next(iter(entry_points(group=_GROUP, name=name)), None)
    if found is None:
        package = f"opentelemetry-exporter-{name.replace('_', '-')}"
        msg = (
            f"{OPTION} {place}: no exporter {name!r} is installed; pip install {package}, "
            f"or write a file: {OPTION} traces.jsonl"
        )
        raise UsageError(msg)
    try:
        exporter = found.load()()
    except Exception as error:
        msg = f"{OPTION} {place}: the exporter cannot be opened: {described(error)}"
        raise UsageError(msg) from error
    assert isinstance(exporter, SpanExporter)  # noqa: S101 - by its entry point
    return exporter
