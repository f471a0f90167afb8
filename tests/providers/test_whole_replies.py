"""A reply that came whole is read, whatever bytes are in its texts; it is paid, and asked once."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from providers.loopback import failure
from providers.test_openai_bodies import NoImages

from pytest_llmeval.providers.openai.replies import read_chat
from pytest_llmeval.providers.openai.responses import read_response

HEAD, TAIL = b'{"choices": [{"message": {"content": "', b'"}, "finish_reason": "stop"}]}'
RESPONSE_HEAD = b'{"output": [{"type": "message", "content": [{"type": "output_text", "text": "'
RESPONSE_TAIL = b'"}]}]}'


def served(body: bytes) -> dict[str, str]:
    """Return the fault of a server whose answer has these bytes."""
    return {"kind": "raw", "base64": base64.b64encode(body).decode()}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"4\xff2", "4\ufffd2"),
        (b"cut \xe2\x82", "cut \ufffd"),
        (b"\xed\xa0\x80", "\ufffd" * 3),
        (b"a\tb\nc\x00\x1b[1m", "a\tb\nc\x00\x1b[1m"),
        ("é".encode("latin-1"), "\ufffd"),
    ],
    ids=["a byte", "half a sign", "half a pair", "control characters", "Latin-1"],
)
def test_odd_bytes_in_a_reply_are_read_by_one_request(
    raw: bytes, text: str, ask: Any, model_server: Any
) -> None:
    model_server.program(always=served(HEAD + raw + TAIL))
    assert ask("q").text == text
    model_server.program(always=served(RESPONSE_HEAD + raw + RESPONSE_TAIL))
    assert ask("q", spec="openai/m,api=responses").text == text
    assert model_server.report()["requests"] == 1


@given(st.binary(max_size=40).filter(lambda raw: not set(raw) & set(b'"\\')))
def test_any_bytes_but_quotes_are_a_text(raw: bytes) -> None:
    expected = raw.decode("utf-8", "replace")
    assert read_chat(HEAD + raw + TAIL, NoImages()).text == expected
    assert read_response(RESPONSE_HEAD + raw + RESPONSE_TAIL, NoImages()).text == expected


@pytest.mark.parametrize("body", [b'{"choices": [{"mess', HEAD + b"\xff", b"<html>\xff\x00"])
def test_a_body_that_is_cut_or_no_json_is_still_worth_another_attempt(
    body: bytes, ask: Any, model_server: Any
) -> None:
    model_server.program(always=served(body))
    error = failure(ask)
    assert (error.reach, error.cause) == ("attempt", "truncated")


def test_a_number_of_any_length_in_a_body_is_no_harm(ask: Any, model_server: Any) -> None:
    digits = b"9" * 10_000
    usage = b'{"prompt_tokens": ' + digits + b', "completion_tokens": 5}'
    body = json.dumps({"choices": [{"message": {"content": "42"}}]}).encode()
    model_server.program(always=served(body[:-1] + b', "usage": ' + usage + b"}"))
    reply = ask("q")
    assert (reply.text, reply.usage.input_tokens, reply.usage.output_tokens) == ("42", 0, 5)
