"""OpenAI's Responses API against a real server on loopback, which refuses chat's parameters."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from providers.loopback import KEY, failure, question
from servers.openai_server import png

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.openai.opener import open_openai
from pytest_llmeval.providers.openai.provider import (
    CHAT,
    NEW_CHAT,
    RESPONSES,
    Api,
    OpenAIProvider,
)
from pytest_llmeval.records import Image, ImagePart, Message, Reply, Request, TextPart, ToolCall

SPEC = "openai/m,api=responses"
SCHEMA = {"name": "verdict", "schema": {"type": "object"}, "strict": True}
WEATHER = {"name": "weather", "parameters": {"type": "object"}}


@pytest.fixture
def respond(ask: Any) -> Any:
    """Return a function that asks one question by the Responses API."""

    def respond(request: Request | str = "why?", **options: Any) -> Reply:
        reply: Reply = ask(request, **({"spec": SPEC} | options))
        return reply

    return respond


def output(*items: dict[str, Any]) -> dict[str, Any]:
    return {"output": list(items)}


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def test_a_reply_brings_text_reasoning_usage_and_model(respond: Any, model_server: Any) -> None:
    reply = respond("why?")
    assert (reply.text, reply.reasoning, reply.stop_reason) == ("echo: why?", "Let me see.", "stop")
    assert reply.model == "m-2026-01-01"
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (10, 4)
    assert (reply.usage.output_tokens, reply.usage.reasoning_tokens, reply.usage.requests) == (
        5,
        2,
        1,
    )
    (seen,) = model_server.report()["seen"]
    assert seen["path"] == "/v1/responses"
    assert seen["headers"]["authorization"] == f"Bearer {KEY}"
    assert seen["body"] == {
        "model": "m",
        "store": False,
        "input": [{"role": "user", "content": "why?"}],
    }


def test_parameters_of_chat_requests_go_by_their_names_here(
    respond: Any, model_server: Any
) -> None:
    parameters = {
        "temperature": 0.6,
        "max_tokens": 100,
        "reasoning_effort": "high",
        "reasoning": {"summary": "auto"},
        "verbosity": "low",
        "response_format": {"type": "json_schema", "json_schema": SCHEMA},
        "tools": [{"type": "function", "function": WEATHER}, {"type": "image_generation"}],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "seed": 7,
        "store": True,
    }
    respond(question("q", **parameters))
    body = model_server.report()["seen"][0]["body"]
    assert {name: value for name, value in body.items() if name not in {"model", "input"}} == {
        "temperature": 0.6,
        "max_output_tokens": 100,
        "reasoning": {"effort": "high", "summary": "auto"},
        "text": {"format": {"type": "json_schema", **SCHEMA}, "verbosity": "low"},
        "tools": [{"type": "function", **WEATHER}, {"type": "image_generation"}],
        "tool_choice": {"type": "function", "name": "weather"},
        "store": True,
    }


def test_conversations_with_tools_and_pictures_go_as_items(
    respond: Any, model_server: Any, picture: Image
) -> None:
    call = ToolCall(id="c1", name="plot", arguments='{"x": 1}')
    messages = (
        Message.of("system", "be brief"),
        Message(role="user", parts=(TextPart(text="look"), ImagePart(image=picture))),
        Message(role="assistant", parts=(), tool_calls=(call,)),
        Message(role="tool", parts=(TextPart(text="done"),), tool_call_id="c1"),
    )
    assert respond(Request(provider="openai", model="m", messages=messages)).text == "echo: done"
    url = "data:image/png;base64," + base64.b64encode(png()).decode()
    assert model_server.report()["seen"][0]["body"]["input"] == [
        {"role": "system", "content": "be brief"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": url},
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "plot", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
    ]


def test_tool_calls_and_pictures_are_taken_out_of_the_output(
    respond: Any, model_server: Any
) -> None:
    picture = base64.b64encode(png()).decode()
    model_server.program(
        reply=output(
            {"type": "image_generation_call", "result": picture, "status": "completed"},
            {"type": "image_generation_call", "result": None, "status": "failed"},
            {"type": "function_call", "call_id": "c1", "name": "plot", "arguments": "{}"},
            {"type": "web_search_call", "id": "ws_1"},
        )
    )
    reply = respond()
    assert [image.read() for image in reply.images] == [png()]
    assert reply.tool_calls == (ToolCall(id="c1", name="plot", arguments="{}"),)
    assert (reply.text, reply.stop_reason) == ("", "tool_calls")


@pytest.mark.parametrize(
    ("answer", "stop_reason", "text"),
    [
        (output(message({"type": "refusal", "refusal": "I cannot"})), "refusal", "I cannot"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "length",
            "echo: why?",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "filter",
            "echo: why?",
        ),
        # Servers other than OpenAI's leave members out.
        (
            {"status": "completed", "error": None, "usage": None, "model": None},
            "stop",
            "echo: why?",
        ),
        (
            output(
                message({"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"})
            ),
            "stop",
            "ab",
        ),
    ],
    ids=["refusal", "length", "filter", "sparse", "several parts"],
)
def test_stop_reasons_are_told_in_our_words(
    answer: dict[str, Any], stop_reason: str, text: str, respond: Any, model_server: Any
) -> None:
    model_server.program(reply=answer)
    reply = respond()
    assert (reply.stop_reason, reply.text) == (stop_reason, text)


@pytest.mark.parametrize(
    ("answer", "reach", "cause"),
    [
        ({"status": "failed", "error": {"code": "server_error", "message": "x"}}, "attempt", "500"),
        (
            {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "x"}},
            "attempt",
            "429",
        ),
        (
            {"status": "failed", "error": {"code": "invalid_prompt", "message": "x"}},
            "sample",
            "400",
        ),
        ({"status": "failed", "error": None}, "attempt", "served"),
        ({"status": "incomplete", "incomplete_details": {"reason": "lost"}}, "attempt", "served"),
        ({"status": "in_progress"}, "attempt", "served"),
        ({"output": None}, "attempt", "truncated"),
    ],
)
def test_a_failed_response_tells_how_far_it_reaches(
    answer: dict[str, Any], reach: str, cause: str, respond: Any, model_server: Any
) -> None:
    model_server.program(reply=answer)
    error = failure(respond)
    assert (error.reach, error.cause) == (reach, cause)


@pytest.mark.parametrize("kind", ["429", "500", "reset", "truncated", "half", "garbage"])
def test_what_breaks_on_the_way_ends_the_attempt_only(
    kind: str, respond: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": kind})
    assert failure(respond).reach == "attempt"


def test_parameters_that_have_no_other_name_are_the_servers_to_refuse(
    respond: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": "400", "message": "Unknown parameter: 'stop'."})
    error = failure(respond, question("q", stop=["\n"]))
    assert (error.reach, error.status) == ("sample", 400)
    assert "Unknown parameter: 'stop'" in str(error)
    assert model_server.report()["seen"][0]["body"]["stop"] == ["\n"]


def test_pictures_are_asked_for_at_the_image_api_all_the_same(
    respond: Any, model_server: Any
) -> None:
    request = Request(
        operation="image", provider="openai", model="m", messages=(Message.of("user", "a circle"),)
    )
    assert [image.read() for image in respond(request).images] == [png()]
    assert model_server.report()["seen"][0]["path"] == "/v1/images/generations"


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        ("gpt-5.1", {}, NEW_CHAT),
        ("gpt-5.1", {"api": "responses"}, RESPONSES),
        ("o3-pro", {}, RESPONSES),
        ("gpt-5-codex", {}, RESPONSES),
        ("o3-pro", {"api": "chat"}, NEW_CHAT),
        ("o3-pro", {"base_url": "http://localhost:4000/v1"}, CHAT),
        ("m", {"base_url": "http://localhost:4000/v1", "api": "responses"}, RESPONSES),
    ],
)
def test_the_spec_or_at_openai_the_model_decides_which_api_is_spoken(
    model: str, options: dict[str, str], expected: Api, tmp_path: Any
) -> None:
    store = ImageFolder(tmp_path)
    setup = ProviderSetup(
        model=model,
        options=options,
        timeout=5,
        image_store=store,
        environ={"OPENAI_API_KEY": "sk-x"},
    )
    provider = open_openai(setup)
    assert isinstance(provider, OpenAIProvider)
    assert provider._api is expected
    asyncio.run(provider.close())
