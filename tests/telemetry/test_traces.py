"""Traces by the real SDK: parents, times, keys, and receivers that fail."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from example_rows import row
from msgspec.structs import replace

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from pytest_llmeval.errors import FailedAttempt, UsageError
from pytest_llmeval.records import Asked, Message, ModelCall, Reply, Transcript, Usage
from pytest_llmeval.telemetry.exporter import open_exporter
from pytest_llmeval.telemetry.traces import CONTENTS, Traces

NOW = 1_790_000_000.0
KEY = "sk-proj-" + "a1B2" * 12


def call(text: str = "yes") -> ModelCall:
    return ModelCall(
        asked=Asked(
            stage="generate",
            role="solver",
            scorer="",
            model="openai/small",
            parameters={},
            messages=(Message.of("user", f"my key is {KEY} \ud83d"),),
            key="k",
        ),
        reply=Reply(text=text, usage=Usage(input_tokens=7, output_tokens=3), latency=1.0),
        attempts=2,
        failures=(FailedAttempt("429", NOW - 3, 0.5),),
        at=NOW,
    )


def traced(exporter: SpanExporter, rows: int = 3) -> str | None:
    traces = Traces(exporter, "test")
    for number in range(rows):
        one = row(str(number))
        traces.keep_transcript(one.key, Transcript(events=(call(),)))
        traces.add(one)
    return traces.close({"llmeval.run": "a run"})


def test_a_run_has_samples_and_a_sample_its_requests() -> None:
    memory = InMemorySpanExporter()
    assert traced(memory) is None
    spans = memory.get_finished_spans()
    (run,) = (span for span in spans if span.parent is None)
    assert (run.name, dict(run.attributes or {})) == ("run", {"llmeval.run": "a run"})
    samples = [span for span in spans if span.parent == run.context]
    assert [span.name for span in samples] == ["sample demo"] * 3
    for sample in samples:
        failed, answered = (span for span in spans if span.parent == sample.context)
        assert failed.kind is answered.kind is SpanKind.CLIENT
        assert failed.status.status_code is StatusCode.ERROR
        assert (failed.end_time or 0) - (failed.start_time or 0) == 500_000_000
        assert answered.end_time == NOW * 1_000_000_000
    assert len({span.context.trace_id for span in spans if span.context}) == 1


@pytest.mark.parametrize("variable", ["", "true", "SPAN_ONLY"])
def test_no_key_gets_into_a_span_and_texts_do_on_request_only(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTENTS, variable)
    memory = InMemorySpanExporter()
    traced(memory, rows=1)
    text = "".join(span.to_json() for span in memory.get_finished_spans())
    assert KEY not in text
    assert ("my key is" in text) is bool(variable)


@pytest.mark.parametrize(("at", "latency"), [(0.0, 1.0), (NOW, 1e10)])
def test_every_span_fits_into_the_fields_of_otlp(at: float, latency: float) -> None:
    one, event = row("1"), call()
    odd = replace(
        event,
        at=at,
        reply=replace(event.reply, latency=latency),
        asked=replace(event.asked, parameters={"seed": 2**70, "max_tokens": 10**400, "top_k": 5}),
    )
    memory = InMemorySpanExporter()
    traces = Traces(memory, "test")
    traces.keep_transcript(one.key, Transcript(events=(odd,)))
    traces.add(one)
    traces.close({})
    spans = memory.get_finished_spans()
    assert len(spans) == 4
    for span in spans:
        assert 0 <= (span.start_time or 0) <= (span.end_time or 0) < 2**64
        numbers = [one for one in (span.attributes or {}).values() if isinstance(one, int)]
        assert all(-(2**63) <= number < 2**63 for number in numbers)


class Broken(SpanExporter):
    """A receiver that is away."""

    def __init__(self, error: Exception | None) -> None:  # noqa: D107 - of a test
        self._error = error

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        assert spans
        if self._error is not None:
            raise self._error
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        if self._error is not None:
            raise self._error


@pytest.mark.parametrize("error", [None, OSError("disk full"), ValueError("odd")])
def test_a_receiver_that_fails_is_one_remark(
    error: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        remark = traced(Broken(error))
    assert remark is not None
    assert remark.startswith("traces (test): spans were lost: ")
    assert str(error) in remark if error else "refused" in remark
    assert not caplog.records


def test_a_file_has_one_span_a_line_and_is_appended_to(tmp_path: Path) -> None:
    for _ in range(2):
        assert traced(open_exporter("sub/traces.jsonl", tmp_path)) is None
    lines = (tmp_path / "sub" / "traces.jsonl").read_text().splitlines()
    assert len(lines) == 2 * (1 + 3 * 3)
    assert {json.loads(line)["resource"]["attributes"]["service.name"] for line in lines} == {
        "llmeval"
    }


def test_what_cannot_be_opened_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write .*traces\.jsonl"):
        open_exporter("file/traces.jsonl", tmp_path)
    with pytest.raises(UsageError, match="no exporter 'otpl' is installed; pip install"):
        open_exporter("otpl", tmp_path)
