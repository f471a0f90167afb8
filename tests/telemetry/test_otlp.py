"""``--llmeval-traces otlp`` against a receiver that speaks OTLP over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from example_rows import row

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from pytest_llmeval.errors import FailedAttempt
from pytest_llmeval.records import Asked, Message, ModelCall, Reply, Score, Transcript, Usage
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.tracing import RunTraces
from pytest_llmeval.telemetry.exporter import Guarded, open_exporter

NOW = 1_790_000_000.0
BATCH = 512
"""Spans of one request, at most."""


class Receiver:
    """A receiver of spans on loopback: it takes them, refuses them, or answers nothing."""

    def __init__(self, *, status: int = 200, hangs: bool = False) -> None:
        """Take the status that it answers with, or that it answers nothing."""
        self.bodies: list[bytes] = []
        self.paths: set[str] = set()
        self._status, self._hangs = status, hangs
        self._over = threading.Event()

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve, and yield the address."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.paths.add(self.path)
                receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                if receiver._hangs:
                    receiver._over.wait()
                    return
                self.send_response(receiver._status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            self._over.set()
            server.shutdown()

    @property
    def spans(self) -> list[Span]:
        """The spans that came, decoded."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        resources = [resource for one in requests for resource in one.resource_spans]
        return [span for one in resources for scope in one.scope_spans for span in scope.spans]


def call() -> ModelCall:
    return ModelCall(
        asked=Asked(
            stage="generate",
            role="solver",
            scorer="",
            model="openai/small",
            parameters={"temperature": 0.5},
            messages=(Message.of("user", "hello"),),
            key="k",
        ),
        reply=Reply(
            text="yes",
            usage=Usage(input_tokens=70, output_tokens=3, cached_tokens=20, cache_write_tokens=50),
            latency=1.0,
        ),
        attempts=2,
        failures=(FailedAttempt("429", NOW - 3, 0.5),),
        at=NOW,
    )


def traced(monkeypatch: pytest.MonkeyPatch, address: str, *, rows: int, timeout: float = 10) -> str:
    """Trace a run of so many rows; return the remarks."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", str(timeout))
    traces = RunTraces(Settings(traces="otlp"))
    traces.open()
    for number in range(rows):
        one = row(str(number), scores=(Score(name="EM", value=1.0, correct=True),))
        traces.keep_transcript(one.key, Transcript(events=(call(),)))
        traces.add(one)
    return "\n".join(traces.close(Path("a run")))


def attributes(span: Span) -> dict[str, object]:
    return {
        one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes
    }


def test_a_receiver_gets_the_spans_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = Receiver()
    with receiver.serving() as address:
        assert traced(monkeypatch, address, rows=2) == ""
    assert receiver.paths == {"/v1/traces"}
    spans = receiver.spans
    (run,) = (span for span in spans if not span.parent_span_id)
    assert (run.name, attributes(run)) == ("run", {"llmeval.run": "a run"})
    samples = [span for span in spans if span.parent_span_id == run.span_id]
    assert [span.name for span in samples] == ["sample demo"] * 2
    for sample in samples:
        (mark,) = sample.events
        assert mark.name == "gen_ai.evaluation.result"
        assert attributes(sample)["llmeval.score.EM"] == 1.0
        failed, answered = (span for span in spans if span.parent_span_id == sample.span_id)
        assert failed.status.code == Status.STATUS_CODE_ERROR
        assert failed.end_time_unix_nano - failed.start_time_unix_nano == 500_000_000
        assert (answered.name, answered.kind) == ("chat small", Span.SPAN_KIND_CLIENT)
        assert answered.end_time_unix_nano == NOW * 1_000_000_000
        usage = {name: value for name, value in attributes(answered).items() if "usage" in name}
        assert usage == {
            "gen_ai.usage.input_tokens": 70,
            "gen_ai.usage.output_tokens": 3,
            "gen_ai.usage.cache_read.input_tokens": 20,
            "gen_ai.usage.cache_creation.input_tokens": 50,
            "gen_ai.usage.reasoning.output_tokens": 0,
        }
    assert len(spans) == 1 + 2 * 3
    assert len({span.trace_id for span in spans}) == 1


@pytest.mark.parametrize("receiver", [Receiver(status=400), Receiver(hangs=True)])
def test_a_receiver_that_refuses_or_hangs_is_one_remark_and_is_not_asked_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiver.serving() as address:
        remark = traced(monkeypatch, address, rows=BATCH, timeout=0.2)
    assert remark.count("spans were lost") == 1
    # One batch may be under way when the run ends, and one is tried then; there are three.
    assert 1 <= len(receiver.bodies) <= 2


def test_a_receiver_that_is_away_is_one_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    with Receiver().serving() as address:
        pass
    remark = traced(monkeypatch, address, rows=1, timeout=0.2)
    assert remark.count("spans were lost: the receiver could not be reached, or refused them") == 1


def test_spans_under_way_at_the_end_are_told_to_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = Receiver(hangs=True)
    with receiver.serving() as address:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        guarded = Guarded(open_exporter("otlp", Path()), "otlp")
        sending = threading.Thread(target=guarded.export, args=((),))
        sending.start()
        while not receiver.bodies:
            sending.join(0.01)
        guarded.end()
        guarded.shutdown()
        assert guarded.remark == "traces (otlp): spans were lost: the receiver took too long"
    sending.join()
