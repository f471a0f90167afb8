"""Any conversation and parameters that a task can hold, for hypothesis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from pytest_llmeval.records import Image, ImagePart, Message, TextPart, ToolCall

TEXTS = st.text(max_size=12) | st.sampled_from(["", " ", "\n", "\ud800"])
NAMES = st.sampled_from(["add", "look_up", "x-1", "no name", ""])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            st.sampled_from(["a", "b"]),
            st.sampled_from(
                [
                    {"type": "string", "pattern": "^a"},
                    {"type": "integer", "minimum": 1},
                    {"type": "array", "items": {"type": "number"}, "maxItems": 3},
                    {"enum": ["a", 1, None]},
                    {"anyOf": [{"type": "string"}, {"type": "null"}]},
                ]
            ),
            max_size=2,
        ),
        "additionalProperties": st.booleans(),
        "description": st.text(max_size=5),
    },
)
FUNCTIONS = st.fixed_dictionaries(
    {"name": NAMES},
    optional={"description": TEXTS, "parameters": SCHEMAS, "strict": st.booleans()},
).map(lambda function: {"type": "function", "function": function})
TOOLS = st.lists(FUNCTIONS, max_size=3)
CHOICES = st.sampled_from(
    ["auto", "none", "required", {"type": "function", "function": {"name": "add"}}, "x", 3]
)
FORMS = st.builds(
    lambda schema: {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
    SCHEMAS,
) | st.sampled_from([{"type": "text"}, {"type": "json_object"}, "b64_json", 3])
NUMBERS = st.sampled_from([-1, 0, 0.5, 1, 1.5, 3, 2**40, "much", True])
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.sampled_from([1, 100, 0, -1, "x", 2.5]),
        "max_completion_tokens": st.sampled_from([1, 100]),
        "seed": st.integers(-(2**40), 2**40),
        "temperature": NUMBERS,
        "top_p": NUMBERS,
        "stop": st.just("END") | st.lists(st.sampled_from(["END", "", "\n"]), max_size=7) | JSON,
        "reasoning_effort": st.sampled_from(["none", "minimal", "low", "high", "max", "huge", 3]),
        "response_format": FORMS,
        "parallel_tool_calls": st.booleans(),
        "tools": TOOLS | JSON,
        "tool_choice": CHOICES,
        "n": st.sampled_from([1, 2]),
    },
)


def conversations(image: Image) -> st.SearchStrategy[tuple[Message, ...]]:
    """Return messages of all roles, with pictures, calls, and results that fit or do not."""
    parts = st.lists(
        TEXTS.map(lambda text: TextPart(text=text)) | st.just(ImagePart(image=image)), max_size=3
    ).map(tuple)
    said = st.builds(Message, role=st.sampled_from(["user", "assistant", "system"]), parts=parts)
    calls = st.builds(
        ToolCall,
        id=st.sampled_from(["call00001", "call00002", "call 3/é", ""]),
        name=NAMES,
        arguments=TEXTS | JSON.map(json.dumps),
    )
    kept = st.sampled_from(["", "x", "[]", '{"thoughtSignatures": ["eA==", 3, "?"]}'])
    used = st.builds(_used, parts, st.lists(calls, min_size=1, max_size=2), TEXTS, kept)
    alone = calls.map(lambda call: (replace(Message.of("tool", "5"), tool_call_id=call.id),))
    pieces = st.lists(said.map(lambda one: (one,)) | used | used | alone, max_size=5)
    return pieces.map(lambda found: tuple(message for piece in found for message in piece))


def _used(
    parts: tuple[Any, ...], calls: Sequence[ToolCall], result: str, kept: str
) -> tuple[Message, ...]:
    said = Message(role="assistant", parts=parts, tool_calls=tuple(calls), continuation=kept)
    told = (replace(Message.of("tool", result), tool_call_id=call.id) for call in calls)
    return (said, *told)
