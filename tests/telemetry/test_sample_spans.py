"""Spans of samples, for any transcript that a solver and scorers can leave."""

from __future__ import annotations

from example_rows import row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import FailedAttempt
from pytest_llmeval.records import (
    Asked,
    Event,
    FailedCall,
    Message,
    ModelCall,
    Reply,
    Score,
    StageNote,
    ToolUse,
    Transcript,
    Usage,
)
from pytest_llmeval.telemetry import names
from pytest_llmeval.telemetry.samples import sample_span
from pytest_llmeval.telemetry.span import Span

NOW = 1_790_000_000.0
SECRET_QUESTION, SECRET_ANSWER = "what is the question", "what is the answer"

moments = st.floats(NOW - 1000, NOW)
durations = st.floats(0, 100)
failures = st.lists(
    st.builds(FailedAttempt, st.sampled_from(["429", "500", "timeout"]), moments, durations),
    max_size=3,
).map(tuple)
asked = st.builds(
    Asked,
    stage=st.just("generate"),
    role=st.sampled_from(["solver", "judge"]),
    scorer=st.sampled_from(["", "judge"]),
    model=st.sampled_from(["openai/small", "azure/a/b", "replay//x/replies.jsonl"]),
    operation=st.sampled_from(["chat", "image"]),
    parameters=st.just({"temperature": 0.5, "stop": ["x"]}),
    messages=st.just((Message.of("user", SECRET_QUESTION),)),
    key=st.just("key"),
)
counts = st.integers(0, 10**6)
usages = st.builds(
    Usage,
    input_tokens=counts,
    output_tokens=counts,
    cached_tokens=counts,
    cache_write_tokens=counts,
    reasoning_tokens=counts,
)
replies = st.builds(Reply, text=st.just(SECRET_ANSWER), usage=usages, latency=durations)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        ModelCall, asked=asked, reply=replies, cached=st.booleans(), failures=failures, at=moments
    ),
    st.builds(FailedCall, asked=asked, error=st.just("HTTP 500"), failures=failures, at=moments),
    st.builds(
        ToolUse,
        stage=st.just("use"),
        tool=st.sampled_from(["python 3.13", "search"]),
        input=st.just(SECRET_QUESTION),
        output=st.just(SECRET_ANSWER),
        error=st.sampled_from([None, SECRET_ANSWER]),
        seconds=durations,
        at=moments,
    ),
    st.just(StageNote(stage="note", text=SECRET_ANSWER)),
)
transcripts = st.lists(events, max_size=8).map(lambda found: Transcript(events=tuple(found)))


def span_of(transcript: Transcript, *, contents: bool = False) -> Span:
    scored = (Score(name="EM", value=1.0, correct=True, explanation=SECRET_ANSWER),)
    return sample_span(
        row(explanation=SECRET_ANSWER, outcome="error", scores=scored),
        transcript,
        reported=NOW,
        contents=contents,
    )


@given(transcripts)
def test_the_tokens_of_request_spans_are_those_of_the_transcript(transcript: Transcript) -> None:
    children, usage = span_of(transcript).children, transcript.usage
    for name, total in (
        (names.INPUT_TOKENS, usage.input_tokens),
        (names.OUTPUT_TOKENS, usage.output_tokens),
        (names.CACHED_TOKENS, usage.cached_tokens),
        (names.CACHE_WRITE_TOKENS, usage.cache_write_tokens),
        (names.REASONING_TOKENS, usage.reasoning_tokens),
    ):
        assert sum(int(str(child.attributes.get(name, 0))) for child in children) == total


@given(transcripts)
def test_every_attempt_and_every_use_of_a_tool_is_a_span_of_its_own(
    transcript: Transcript,
) -> None:
    children = span_of(transcript).children
    failed = [event for event in transcript.events if isinstance(event, FailedCall)]
    attempts = sum(len(one.failures) + 1 for one in transcript.calls)
    attempts += sum(max(1, len(one.failures)) for one in failed)
    assert sum(child.sent for child in children) == attempts
    assert len(children) - attempts == len(transcript.tool_uses)
    wrong = [child for child in children if child.sent and child.error is not None]
    assert len(wrong) == attempts - len(transcript.calls)
    assert all(child.attributes[names.ERROR_TYPE] for child in wrong)


@given(transcripts)
def test_what_happened_for_a_sample_lies_within_its_span(transcript: Transcript) -> None:
    span = span_of(transcript)
    assert span.end >= NOW
    for child in span.children:
        assert span.start <= child.start <= child.end <= span.end


@given(transcripts)
def test_texts_of_models_are_in_spans_on_request_only(transcript: Transcript) -> None:
    without, whole = repr(span_of(transcript)), repr(span_of(transcript, contents=True))
    assert SECRET_ANSWER not in without
    assert SECRET_QUESTION not in without
    assert SECRET_ANSWER in whole
    assert (SECRET_QUESTION in whole) is bool(transcript.calls or transcript.tool_uses)


def test_a_request_is_described_by_the_conventions() -> None:
    call = ModelCall(
        asked=Asked(
            stage="generate",
            role="solver",
            scorer="",
            model="azure/large",
            parameters={"temperature": 0.5, "max_completion_tokens": 9, "stop": ["x"]},
            messages=(),
            key="k",
        ),
        reply=Reply(text="x", stop_reason="filter", model="large-2", latency=2.0),
        at=NOW,
    )
    (child,) = span_of(Transcript(events=(call,))).children
    assert child.name == "chat large"
    assert (child.start, child.end) == (NOW - 2, NOW)
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "azure.ai.openai",
        "gen_ai.request.model": "large",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.response.model": "large-2",
        "gen_ai.response.finish_reasons": ("content_filter",),
    }
    assert {name: child.attributes[name] for name in expected} == expected


def test_scores_are_attributes_and_results_of_evaluations() -> None:
    span = span_of(Transcript())
    assert span.attributes["llmeval.score.EM"] == 1.0
    (mark,) = span.marks
    assert mark.name == "gen_ai.evaluation.result"
    assert mark.attributes["gen_ai.evaluation.score.label"] == "correct"
