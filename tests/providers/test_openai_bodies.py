"""Requests and replies in the wire's JSON, without a server."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.providers.bodies import UnreadableReplyError
from pytest_llmeval.providers.openai.replies import read_chat
from pytest_llmeval.providers.openai.requests import chat_body, image_body
from pytest_llmeval.providers.openai.responses import response_body
from pytest_llmeval.records import Image, Message, Request


class NoImages:
    def load(self, path: str) -> Image:
        raise AssertionError(path)

    def save(self, data: bytes) -> Image:
        raise AssertionError(data)


def request(**parameters: Any) -> Request:
    return Request(
        provider="openai", model="m", messages=(Message.of("user", "q"),), parameters=parameters
    )


@pytest.mark.parametrize(
    ("parameters", "completion_tokens", "expected"),
    [
        ({"max_tokens": 5}, True, {"max_completion_tokens": 5}),
        ({"max_tokens": 5}, False, {"max_tokens": 5}),
        ({"max_completion_tokens": 6}, False, {"max_completion_tokens": 6}),
        ({"max_tokens": 5, "max_completion_tokens": 6}, True, {"max_completion_tokens": 6}),
        ({}, True, {}),
    ],
)
def test_the_token_limit_takes_its_newer_name_where_the_endpoint_wants_it(
    parameters: dict[str, Any],
    completion_tokens: bool,  # noqa: FBT001 - a table's column
    expected: dict[str, Any],
) -> None:
    body = chat_body(request(**parameters), completion_tokens=completion_tokens)
    assert {key: value for key, value in body.items() if key.startswith("max")} == expected


def test_a_parameter_cannot_replace_the_model_or_the_messages() -> None:
    body = chat_body(request(model="other", messages=[]), completion_tokens=False)
    assert body["model"] == "m"
    assert body["messages"] == [{"role": "user", "content": "q"}]


def test_the_form_in_which_an_image_api_sends_pictures_is_kept_from_chats() -> None:
    asked = request(response_format="b64_json", seed=3)
    assert image_body(asked)[0]["response_format"] == "b64_json"
    assert "response_format" not in chat_body(asked, completion_tokens=False)
    assert response_body(asked).keys() == {"model", "store", "input"}
    schema = {"type": "json_object"}
    kept = chat_body(request(response_format=schema), completion_tokens=False)
    assert kept["response_format"] == schema


def test_an_image_request_keeps_the_parameters_that_image_servers_know() -> None:
    fields, images = image_body(
        request(
            seed=3, size="512x512", top_p=0.9, stop=["x"], response_format={"type": "json_object"}
        )
    )
    assert fields == {"model": "m", "prompt": "q", "seed": 3, "size": "512x512"}
    assert images == ()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"choices": ',
        b'{"choices": {"0": 1}}',
        b"1" * 5000,
    ],
)
def test_hostile_bodies_are_unreadable_and_nothing_worse(body: bytes) -> None:
    with pytest.raises(UnreadableReplyError):
        read_chat(body, NoImages())


def test_blank_lines_before_the_body_are_no_harm() -> None:
    assert read_chat(b'\n\n\n {"choices": [{"message": {"content": "x"}}]}', NoImages()).text == "x"
