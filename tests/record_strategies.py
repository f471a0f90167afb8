"""Any rows and transcripts, for property tests (tests/ is on the path because of its conftest.py).

Names come from few, so that chance makes tasks, models and scores of several rows equal; texts hold
half surrogate pairs, control characters and what steers LaTeX, YAML and terminals.
"""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_llmeval.records import (
    Asked,
    Event,
    FailedCall,
    Json,
    Message,
    ModelCall,
    Reply,
    Row,
    Score,
    StageNote,
    ToolCall,
    ToolUse,
    Transcript,
    Usage,
)
from pytest_llmeval.records.row import Outcome

WHOLE_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
"""Texts that UTF-8 can hold."""

HOSTILE = st.sampled_from(
    [
        "",
        "a_b & 100 % #1",
        "\\input{x}",
        "$x^2$ ~ {",
        "--- '' ``",
        "- key: [1",
        "\x1b[31m",
        "\u202e",
    ]
)
TEXTS = HOSTILE | st.text(max_size=8) | st.just("half \ud800 pair")
NUMBERS = st.floats(0, 1e6, allow_nan=False)
COUNTS = st.integers(0, 2**40)
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | NUMBERS | TEXTS
VALUES: st.SearchStrategy[Json] = SCALARS | st.lists(SCALARS, max_size=2)
NAMES = st.sampled_from(["a", "outcome", "correct", "b c", "score_1"])
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(
    ["correct", "incorrect", "error", "unscored", "not run"]
)
TARGETS = TEXTS | st.lists(TEXTS, min_size=1, max_size=2).map(tuple) | st.none()


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """Draw tokens of which parts are cached, reasoning, and a cost that may be unknown."""
    cached, written, fresh = draw(COUNTS), draw(COUNTS), draw(COUNTS)
    reasoning, said = draw(COUNTS), draw(COUNTS)
    return Usage(
        input_tokens=cached + written + fresh,
        cached_tokens=cached,
        cache_write_tokens=written,
        output_tokens=reasoning + said,
        reasoning_tokens=reasoning,
        requests=draw(st.integers(0, 9)),
        cost=draw(st.none() | NUMBERS),
    )


SCORES = st.builds(
    Score,
    name=NAMES,
    value=st.none() | st.floats(0, 1),
    correct=st.none() | st.booleans(),
    explanation=TEXTS,
    grader=st.sampled_from(["one/1", "one/2"]),
    decides=st.booleans(),
    details=st.dictionaries(TEXTS, VALUES, max_size=2),
)

ROWS = st.builds(
    Row,
    test=st.sampled_from(["test_a.py::test_a", "test_b.py::test_b"]),
    task=st.sampled_from(["sums", "räume & co", "../x"]),
    sample=WHOLE_TEXTS,
    model=st.sampled_from(["openai/small", "openai/large_2", "A"]),
    epoch=st.integers(1, 3),
    nodeid=TEXTS,
    outcome=OUTCOMES,
    scores=st.lists(SCORES, max_size=2).map(tuple),
    answer=st.none() | TEXTS,
    target=TARGETS,
    explanation=TEXTS,
    tags=st.lists(TEXTS, max_size=2).map(tuple),
    groups=st.dictionaries(NAMES, st.lists(TEXTS, max_size=2).map(tuple), max_size=2),
    stop_reason=st.sampled_from(["stop", "length", ""]),
    usage=usages(),
    seconds=NUMBERS,
    cached=st.booleans(),
    age=st.none() | NUMBERS,
    recorded=st.booleans(),
    reports=st.integers(1, 3),
    worker=st.sampled_from(["", "gw1"]),
    details=st.dictionaries(NAMES, VALUES, max_size=2),
    versions=st.just({"dataset": "1f"}),
)

TOOL_CALLS = st.builds(
    ToolCall, id=TEXTS, name=NAMES, arguments=st.sampled_from(['{"x": 1}', "[1]", "{", ""]) | TEXTS
)

MESSAGES = (
    st.builds(Message.of, st.sampled_from(["system", "user"]), TEXTS)
    | st.builds(
        lambda text, calls: Message(
            role="assistant", parts=Message.of("assistant", text).parts, tool_calls=tuple(calls)
        ),
        TEXTS,
        st.lists(TOOL_CALLS, max_size=2),
    )
    | st.builds(
        lambda text, called: Message(
            role="tool", parts=Message.of("tool", text).parts, tool_call_id=called
        ),
        TEXTS,
        TEXTS,
    )
)

ASKED = st.builds(
    Asked,
    stage=st.sampled_from(["generate", "judge"]),
    role=st.sampled_from(["solver", "judge", "grader"]),
    scorer=st.sampled_from(["", "a", None]),
    model=st.sampled_from(["openai/small", "openai/judge"]),
    parameters=st.dictionaries(NAMES, VALUES, max_size=2),
    messages=st.lists(MESSAGES, max_size=3).map(tuple),
    key=st.just("0"),
)

EVENTS: st.SearchStrategy[Event] = (
    st.builds(
        ModelCall,
        asked=ASKED,
        reply=st.builds(
            Reply,
            text=TEXTS,
            stop_reason=st.sampled_from(["stop", "length", "refusal", "filter", "tool_calls"]),
            tool_calls=st.lists(TOOL_CALLS, max_size=2).map(tuple),
            usage=usages(),
            model=TEXTS,
            latency=NUMBERS,
            created=st.just(0.0) | st.floats(1, 2e9),
            reasoning=TEXTS,
        ),
        cached=st.booleans(),
        attempts=st.integers(1, 3),
    )
    | st.builds(FailedCall, asked=ASKED, error=TEXTS)
    | st.builds(
        ToolUse,
        stage=NAMES,
        tool=NAMES,
        input=st.just('{"x": 1}') | TEXTS,
        output=TEXTS,
        error=st.none() | TEXTS,
        seconds=NUMBERS,
    )
    | st.builds(StageNote, stage=NAMES, text=TEXTS)
)

TRANSCRIPTS = st.builds(Transcript, events=st.lists(EVENTS, max_size=4).map(tuple))
