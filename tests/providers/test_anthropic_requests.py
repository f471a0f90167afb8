"""Whatever a task can hold becomes a request that the published types take, or one clear error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from servers.messages_rules import wrong
from servers.openai_server import png

from pytest_llmeval.providers.anthropic.caching import breakpoints, with_breakpoints
from pytest_llmeval.providers.anthropic.requests import VERSION, api_version, message_body
from pytest_llmeval.records import Image, ImagePart, Message, Request, TextPart, ToolCall

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["", " ", "\n"])
NAMES = st.sampled_from(["add", "look_up", "x-1"])
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | TEXTS
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2)
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            NAMES,
            st.sampled_from(
                [
                    {"type": "string"},
                    {"type": "integer", "minimum": 1},
                    {"type": "array", "items": {"type": "number"}, "maxItems": 3},
                    {"enum": ["a", 1, None]},
                    {"anyOf": [{"type": "string"}, {"type": "null"}]},
                ]
            ),
            max_size=2,
        ),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "description": TEXTS,
    },
)
FUNCTIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"name": NAMES},
    optional={"description": TEXTS, "parameters": SCHEMAS, "strict": st.booleans()},
)
TOOLS = st.lists(FUNCTIONS, max_size=3, unique_by=lambda function: str(function["name"])).map(
    lambda functions: [{"type": "function", "function": one} for one in functions]
)
ANSWERS = st.builds(
    lambda schema, strict: {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": strict},
    },
    SCHEMAS,
    st.booleans(),
)
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.integers(1, 10**5),
        "max_completion_tokens": st.integers(1, 10**5),
        "seed": st.integers(),
        "temperature": st.sampled_from([0, 0.7, 1]),
        "top_p": st.sampled_from([0.5, 1]),
        "stop": st.just("END") | st.lists(st.just("END"), max_size=2),
        "user": st.just("me"),
        "reasoning_effort": st.sampled_from(["none", "minimal", "low", "high", "max", "huge"]),
        "response_format": ANSWERS
        | st.sampled_from([{"type": "text"}, {"type": "json_object"}, "b64_json", 3]),
        "parallel_tool_calls": st.booleans(),
        "tools": TOOLS,
        "thinking": st.just({"type": "adaptive"}),
    },
)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    path = tmp_path_factory.mktemp("pictures") / "a.png"
    path.write_bytes(png())
    return Image.load(path)


def conversations(image: Image) -> st.SearchStrategy[tuple[Message, ...]]:
    parts = st.lists(
        TEXTS.map(lambda text: TextPart(text=text)) | st.just(ImagePart(image=image)), max_size=3
    ).map(tuple)
    texts = TEXTS.map(lambda text: (TextPart(text=text),))
    said = st.builds(Message, role=st.sampled_from(["user", "assistant"]), parts=parts)
    told = st.builds(Message, role=st.just("system"), parts=texts | parts)
    calls = st.builds(ToolCall, id=st.just(""), name=NAMES, arguments=TEXTS | JSON.map(json.dumps))
    used = st.builds(_used, texts, st.lists(calls, min_size=1, max_size=2), TEXTS)
    pieces = st.lists(st.one_of(said, told).map(lambda one: (one,)) | used, max_size=5)
    return pieces.map(lambda found: _numbered(message for piece in found for message in piece))


def _used(parts: Any, calls: list[ToolCall], result: str) -> tuple[Message, ...]:
    said = Message(role="assistant", parts=parts, tool_calls=tuple(calls))
    return (said, *(replace(Message.of("tool", result), tool_call_id="") for _ in calls))


def _numbered(messages: Any) -> tuple[Message, ...]:
    """Give calls and their results ids that fit, as a solver does."""
    numbered: list[Message] = []
    number = 0
    for message in messages:
        if message.tool_calls:
            calls = tuple(
                replace(call, id=f"call {number + place}")
                for place, call in enumerate(message.tool_calls)
            )
            open_ids = [call.id for call in calls]
            number += len(calls)
            numbered.append(replace(message, tool_calls=calls))
        elif message.tool_call_id is not None:
            numbered.append(replace(message, tool_call_id=open_ids.pop(0)))
        else:
            numbered.append(message)
    return tuple(numbered)


@settings(max_examples=150)
@given(data=st.data(), parameters=PARAMETERS)
def test_a_request_is_valid_or_one_error_says_why(
    image: Image, data: Any, parameters: dict[str, Any]
) -> None:
    messages = data.draw(conversations(image))
    request = Request(provider="anthropic", model="m", messages=messages, parameters=parameters)
    try:
        body = message_body(request)
    except ValueError as error:
        told = str(error)
    else:
        told = ""
    if told:
        assert any(word in told for word in ("expected", "counterpart", "needs", "takes"))
        return
    sent = json.loads(json.dumps(body, allow_nan=False))
    assert wrong(sent, api_version(request)) is None, sent
    marked = with_breakpoints(body, tuple(point.place for point in breakpoints(body)))
    assert wrong(json.loads(json.dumps(marked)), api_version(request)) is None, marked
    shown = json.dumps(sent)
    parts = (part for message in messages for part in message.parts)
    words = (word for part in parts if isinstance(part, TextPart) for word in part.text.split())
    assert all(json.dumps(word)[1:-1] in shown for word in words)


@given(
    parameters=st.dictionaries(
        st.sampled_from(
            ["tools", "tool_choice", "response_format", "reasoning_effort", "output_config", "stop"]
        ),
        JSON,
        max_size=3,
    )
)
def test_parameters_of_any_shape_never_end_in_another_error(parameters: dict[str, Any]) -> None:
    request = Request(
        provider="anthropic",
        model="m",
        messages=(Message.of("user", "hi"),),
        parameters=parameters,
    )
    try:
        body = message_body(request)
    except ValueError:
        return
    breakpoints(body)


@given(
    st.sets(st.text(max_size=6) | st.sampled_from(["a b", "a/b", "a_b"]), min_size=2, max_size=4)
)
def test_ids_that_the_api_forbids_stay_different(ids: set[str]) -> None:
    calls = tuple(ToolCall(id=one, name="add", arguments="{}") for one in ids)
    results = (replace(Message.of("tool", "5"), tool_call_id=one) for one in ids)
    messages = (Message(role="assistant", parts=(), tool_calls=calls), *results)
    sent: Any = message_body(Request(provider="anthropic", model="m", messages=messages))
    used, told = (one["content"] for one in sent["messages"])
    assert len({one["id"] for one in used}) == len(ids)
    assert [one["id"] for one in used] == [one["tool_use_id"] for one in told]


def test_the_newest_version_is_spoken() -> None:
    request = Request(provider="anthropic", model="m", messages=(Message.of("user", "hi"),))
    assert api_version(request) == VERSION
