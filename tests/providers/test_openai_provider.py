"""The adapter against a real server on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from providers.loopback import KEY, failure
from servers.openai_server import png

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import check_provider, open_provider
from pytest_llmeval.records import Image, ImagePart, Json, Message, Request, TextPart, ToolCall


def test_a_reply_brings_text_usage_model_and_latency(ask: Any, model_server: Any) -> None:
    model_server.program(latency=0.05)
    reply = ask("why?")
    assert reply.text == "echo: why?"
    assert reply.stop_reason == "stop"
    assert reply.model == "m-2026-01-01"
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (10, 4)
    assert (reply.usage.output_tokens, reply.usage.reasoning_tokens, reply.usage.requests) == (
        5,
        2,
        1,
    )
    assert reply.latency >= 0.05
    assert reply.created > 1_700_000_000


def test_messages_parameters_and_key_arrive_as_given(ask: Any, model_server: Any) -> None:
    request = Request(
        provider="openai",
        model="m",
        messages=(
            Message.of("system", "be brief"),
            Message.of("user", "draw"),
            Message(
                role="assistant",
                parts=(),
                tool_calls=(ToolCall(id="c1", name="plot", arguments='{"x": 1}'),),
            ),
            Message(role="tool", parts=(TextPart(text="done"),), tool_call_id="c1"),
        ),
        parameters={
            "temperature": 0.6,
            "max_tokens": 100,
            "top_k": 5,
            "response_format": {"type": "json_object"},
        },
    )
    ask(request)
    (seen,) = model_server.report()["seen"]
    assert seen["headers"]["authorization"] == f"Bearer {KEY}"
    assert seen["body"] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "draw"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "plot", "arguments": '{"x": 1}'},
                    }
                ],
            },
            {"role": "tool", "content": "done", "tool_call_id": "c1"},
        ],
        "temperature": 0.6,
        "max_tokens": 100,
        "top_k": 5,
        "response_format": {"type": "json_object"},
    }


def test_pictures_go_as_data_in_their_place_among_the_text(
    ask: Any, model_server: Any, picture: Image
) -> None:
    parts = (TextPart(text="before"), ImagePart(image=picture), TextPart(text="after"))
    ask(Request(provider="openai", model="m", messages=(Message(role="user", parts=parts),)))
    content = model_server.report()["seen"][0]["body"]["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    head, data = content[1]["image_url"]["url"].split(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data) == png()


@pytest.mark.parametrize(
    ("finish", "message", "expected"),
    [
        ("stop", {}, "stop"),
        ("length", {}, "length"),
        ("content_filter", {}, "filter"),
        ("tool_calls", {}, "tool_calls"),
        ("stop", {"content": None, "refusal": "I cannot"}, "refusal"),
        (None, {}, "stop"),
        ("eos", {}, "stop"),
        ("max_tokens", {}, "length"),
        ("SAFETY", {}, "filter"),
        ("content_filter: PROHIBITED_CONTENT", {}, "filter"),
    ],
)
def test_stop_reasons_are_told_in_our_words(
    finish: str | None, message: dict[str, Any], expected: str, ask: Any, model_server: Any
) -> None:
    model_server.program(finish_reason=finish, reply=message)
    assert ask("q").stop_reason == expected


def test_a_refusal_is_the_text_where_there_is_no_other(ask: Any, model_server: Any) -> None:
    model_server.program(reply={"content": None, "refusal": "I cannot"})
    assert ask("q").text == "I cannot"


def test_tool_calls_arrive_with_arguments_as_json_text(ask: Any, model_server: Any) -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"id": "c2", "type": "function", "function": {"name": "g", "arguments": {"y": 2}}},
    ]
    model_server.program(reply={"content": None, "tool_calls": calls}, finish_reason="tool_calls")
    reply = ask("q")
    assert reply.tool_calls == (
        ToolCall(id="c1", name="f", arguments='{"x": 1}'),
        ToolCall(id="c2", name="g", arguments='{"y": 2}'),
    )


DATA_URL = "data:image/png;base64," + base64.b64encode(png()).decode()


@pytest.mark.parametrize(
    "message",
    [
        {"content": "here", "images": [{"type": "image_url", "image_url": {"url": DATA_URL}}]},
        {"content": "here", "images": [{"b64_json": DATA_URL.partition(",")[2]}]},
        {
            "content": [
                {"type": "text", "text": "here"},
                {"type": "image_url", "image_url": {"url": DATA_URL}},
            ]
        },
        {
            "content": [
                {"type": "output_text", "text": "here"},
                {"type": "output_image", "image_url": DATA_URL},
            ]
        },
    ],
    ids=["images", "b64_json", "content parts", "output parts"],
)
def test_pictures_in_chat_replies_are_kept(
    message: dict[str, Any], ask: Any, model_server: Any
) -> None:
    model_server.program(reply=message)
    reply = ask("draw")
    assert reply.text == "here"
    assert [image.read() for image in reply.images] == [png()]


def test_thinking_parts_are_no_part_of_the_text(ask: Any, model_server: Any) -> None:
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "4"},
    ]
    model_server.program(reply={"content": content})
    reply = ask("q")
    assert (reply.text, reply.reasoning) == ("4", "hm")


def test_a_picture_by_link_is_told_and_never_fetched(ask: Any, model_server: Any) -> None:
    link = f"{model_server.url}/chat/completions"
    model_server.program(reply={"images": [{"type": "image_url", "image_url": {"url": link}}]})
    (problem,) = ask("draw").image_problems
    assert "came as a link" in problem
    assert model_server.report()["requests"] == 1


def test_an_image_request_sends_the_diagram_and_returns_a_picture(
    ask: Any, model_server: Any, picture: Image
) -> None:
    message = Message(
        role="user", parts=(ImagePart(image=picture), TextPart(text="add the height"))
    )
    parameters: dict[str, Json] = {"size": "1024x1024", "temperature": 0.2, "max_tokens": 9}
    request = Request(
        operation="image", provider="openai", model="m", messages=(message,), parameters=parameters
    )
    reply = ask(request)
    assert [image.read() for image in reply.images] == [png()]
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (50, 100)
    (seen,) = model_server.report()["seen"]
    assert seen["path"] == "/v1/images/edits"
    assert seen["body"] == {
        "model": "m",
        "prompt": "add the height",
        "size": "1024x1024",
        "image": {"type": "image/png", "size": len(png())},
    }


def test_half_a_surrogate_pair_in_a_reply_does_not_reach_a_file(
    ask: Any, model_server: Any
) -> None:
    model_server.program(reply={"content": "x\ud800y"})
    assert ask("q").text == "x?y"


@pytest.mark.parametrize("status", ["408", "409", "429", "500", "502", "503", "529"])
def test_passing_failures_end_the_attempt_only(status: str, ask: Any, model_server: Any) -> None:
    model_server.program(always={"kind": status})
    error = failure(ask)
    assert (error.reach, error.status, error.cause, error.retry_after) == (
        "attempt",
        int(status),
        status,
        None,
    )


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("20ms", 0.02), ("-3", 0.0), ("nan", None), ("soon", None)],
)
def test_retry_after_is_read_in_all_its_forms(
    header: str, seconds: float | None, ask: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": "429", "retry_after": header})
    assert failure(ask).retry_after == seconds


def test_retry_after_may_be_a_date(ask: Any, model_server: Any) -> None:
    model_server.program(always={"kind": "429", "retry_after": "date"})
    wait = failure(ask).retry_after
    assert wait is not None
    assert 0 < wait <= 30


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("401", "the key is refused; set a valid one in OPENAI_API_KEY"),
        ("402", "no credit left"),
        ("403", "the key of OPENAI_API_KEY may not use this model here"),
        ("404", "no such model or path; check the model's name and the base URL"),
    ],
)
def test_failures_of_key_or_name_end_the_model_and_tell_the_fix(
    kind: str, fix: str, ask: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": kind, "message": "no\nway"})
    error = failure(ask)
    assert (error.reach, error.status) == ("model", int(kind))
    host = model_server.root.removeprefix("http://")
    assert str(error).startswith(f"openai/m at {host}: HTTP {kind} no way; ")
    assert fix in str(error)


def test_a_used_up_quota_ends_the_model_though_its_status_is_429(
    ask: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": "429", "code": "insufficient_quota"})
    error = failure(ask)
    assert error.reach == "model"
    assert "quota is used up" in str(error)


@pytest.mark.parametrize("status", ["400", "413", "422"])
def test_a_request_the_server_will_not_take_ends_the_sample(
    status: str, ask: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": status, "message": "context too long"})
    error = failure(ask)
    assert (error.reach, error.cause) == ("sample", status)
    assert "context too long" in str(error)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("429", "Request too large for gpt-4o on tokens per min (TPM): Limit 30000"),
        ("429", "Limit 30000, Requested 36278. The input or output tokens must be reduced."),
        ("500", "the request exceeds the available context size. try increasing the context size"),
        ("402", "This request requires more credits, or fewer max_tokens. You can only afford 10"),
        ("403", "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>"),
        ("404", "No endpoints found that support tool use."),
    ],
)
def test_a_refusal_that_is_about_one_request_ends_the_sample_whatever_its_status(
    status: str, words: str, ask: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": status, "message": words})
    error = failure(ask)
    assert (error.reach, error.cause) == ("sample", status)


def test_a_server_without_an_image_api_may_still_answer_chats(ask: Any, model_server: Any) -> None:
    model_server.program(always={"kind": "404"})
    drawing = Request(
        operation="image", provider="openai", model="m", messages=(Message.of("user", "a circle"),)
    )
    assert failure(ask, drawing).reach == "sample"


def test_a_redirect_to_where_nobody_serves_is_not_the_server_being_away(
    ask: Any, model_server: Any
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        elsewhere = f"127.0.0.1:{unused.getsockname()[1]}"
    model_server.program(always={"kind": "redirect", "location": f"http://{elsewhere}/v1"})
    error = failure(ask)
    assert (error.reach, error.cause) == ("attempt", "redirect")
    assert f"the server redirected to {elsewhere}, where nothing answers" in str(error)


@pytest.mark.parametrize("kind", ["truncated", "half", "garbage"])
def test_a_body_that_is_cut_or_garbage_ends_the_attempt(
    kind: str, ask: Any, model_server: Any
) -> None:
    model_server.program(always={"kind": kind})
    error = failure(ask)
    assert (error.reach, error.cause) == ("attempt", "truncated")


@pytest.mark.parametrize(
    "body",
    [
        [],
        "text",
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"tool_calls": [{"function": 3}]}}]},
    ],
    ids=lambda body: json.dumps(body)[:40],
)
def test_a_body_of_another_shape_ends_the_attempt(body: Any, ask: Any, model_server: Any) -> None:
    model_server.program(body=body)
    error = failure(ask)
    assert (error.reach, error.cause) == ("attempt", "truncated")


@pytest.mark.parametrize(
    ("body", "reach", "cause"),
    [
        ({"error": {"message": "upstream is full", "code": 503}}, "attempt", "503"),
        ({"error": {"message": "bad key", "code": 401}}, "model", "401"),
        ({"error": "it broke"}, "attempt", "served"),
        (
            {"choices": [{"message": {"content": "half"}, "finish_reason": "error"}]},
            "attempt",
            "served",
        ),
    ],
)
def test_an_error_told_with_status_200_is_an_error(
    body: Any, reach: str, cause: str, ask: Any, model_server: Any
) -> None:
    model_server.program(body=body)
    error = failure(ask)
    assert (error.reach, error.cause) == (reach, cause)


def test_odd_usage_counts_as_nothing(ask: Any, model_server: Any) -> None:
    usage = {"prompt_tokens": "many", "completion_tokens": -5, "prompt_tokens_details": None}
    model_server.program(body={"choices": [{"message": {"content": "x"}}], "usage": usage})
    assert ask("q").usage.total_tokens == 0


def test_a_broken_connection_ends_the_attempt_as_reset(ask: Any, model_server: Any) -> None:
    model_server.program(always={"kind": "reset"})
    error = failure(ask)
    assert (error.reach, error.cause) == ("attempt", "reset")


def test_a_silent_server_ends_the_attempt_as_time_out(ask: Any, model_server: Any) -> None:
    model_server.program(always={"kind": "stall"})
    error = failure(ask, timeout=0.2)
    assert (error.reach, error.cause) == ("attempt", "timeout")


def test_an_address_where_nobody_serves_is_named(ask: Any) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    error = failure(ask, url=url)
    assert (error.reach, error.cause) == ("attempt", "unreachable")
    assert f"nothing answers at {url}; is the server running, the URL right?" in str(error)


def test_a_prompt_of_more_than_a_megabyte_arrives_whole(ask: Any, model_server: Any) -> None:
    text = "Is π here? " * 100_000
    ask(text)
    (seen,) = model_server.report()["seen"]
    assert seen["body"]["messages"] == [{"role": "user", "content": text}]
    assert seen["headers"]["content-length"]


def test_no_message_holds_the_key(ask: Any, model_server: Any) -> None:
    other = "sk-proj-abcdef***wxyz"
    signed = "eyJ0eXAiOiJKV1Qi.eyJhdWQi.c2lnbmF0dXJl"
    model_server.program(
        always={"kind": "401", "message": f"Incorrect API key {KEY} or {other} or {signed}"}
    )
    error = failure(ask)
    assert signed not in str(error)
    assert KEY not in str(error)
    assert other not in str(error)
    assert error.__cause__ is None


def test_a_key_that_the_server_repeats_reaches_nobody(ask: Any, model_server: Any) -> None:
    call = {"id": "c", "function": {"name": KEY, "arguments": f'{{"key": "{KEY}"}}'}}
    model_server.program(
        reply={
            "content": f"yours is {KEY}.",
            "reasoning_content": f"hm, {KEY}",
            "tool_calls": [call],
        }
    )
    reply = ask("q")
    assert KEY not in str(reply)
    assert (reply.text, reply.reasoning) == ("yours is ***.", "hm, ***")


def test_what_a_model_shows_of_its_thinking_stands_beside_the_text(
    ask: Any, model_server: Any
) -> None:
    for name in ("reasoning_content", "reasoning"):
        model_server.program(reply={"content": "4", name: "2 and 2"})
        reply = ask("q")
        assert (reply.text, reply.reasoning) == ("4", "2 and 2")


def test_the_key_may_be_in_a_variable_that_the_spec_names(ask: Any, model_server: Any) -> None:
    ask("q", spec="openai/m,key=PROXY_API_KEY", PROXY_API_KEY="proxy-key-123")
    assert model_server.report()["seen"][0]["headers"]["authorization"] == "Bearer proxy-key-123"


def test_a_specs_address_goes_before_the_runs(ask: Any, model_server: Any) -> None:
    assert (
        ask("q", spec=f"openai/m,base_url={model_server.url}", url="http://127.0.0.1:9/v1").text
        == "echo: q"
    )


def test_a_url_with_a_password_is_refused_without_showing_it(ask: Any, model_server: Any) -> None:
    with pytest.raises(UsageError, match="holds a user or password") as caught:
        ask("q", url=model_server.url.replace("http://", "http://user:hunter22@"))
    assert "hunter22" not in str(caught.value)


def test_a_provider_shows_its_model_and_address_and_no_key(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": KEY}
    spec, images = parse_spec("openai/gpt-5.1", folder=tmp_path), ImageFolder(tmp_path)
    provider = open_provider(spec, folder=tmp_path, image_store=images, environ=environ)
    assert repr(provider) == "OpenAIProvider(openai/gpt-5.1 at https://api.openai.com/v1)"
    asyncio.run(provider.close())


def test_a_server_of_ones_own_needs_no_key(ask: Any) -> None:
    assert ask("q", OPENAI_API_KEY="").text == "echo: q"


def test_the_base_url_may_come_from_the_environment(ask: Any, model_server: Any) -> None:
    assert ask("q", url="", OPENAI_BASE_URL=model_server.url).text == "echo: q"


@pytest.mark.parametrize(
    ("spec", "base_url", "environ", "message"),
    [
        ("openai/m", None, {}, "openai/m: no key; set OPENAI_API_KEY, or base_url=URL"),
        ("openai/m,key=MY_KEY", None, {"OPENAI_API_KEY": KEY}, "openai/m: no key; set MY_KEY"),
        (
            "openai/m,key=MY_KEY",
            "http://x",
            {},
            "openai/m: MY_KEY is not set, which the spec names for the key",
        ),
        ("openai/m", "localhost:8000", {}, "base URL: 'localhost:8000' is no address"),
        ("openai/m", "http://[::1", {}, "is no address"),
        ("openai/m", "http://x/v1?key=hunter22", {}, "base URL: the address holds a query"),
        (
            "openai/m",
            "http://me:hunter22@x/v1",
            {},
            "base URL: the address holds a user or password",
        ),
        ("azure/d", None, {}, "azure/d: AZURE_OPENAI_ENDPOINT is not set"),
        # OPENAI_BASE_URL is for openai/ models alone: a judge at Azure is not looked for at a
        # local server.
        ("azure/d", "http://localhost:8000/v1", {}, "azure/d: AZURE_OPENAI_ENDPOINT is not set"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_opened(
    spec: str, base_url: str | None, environ: dict[str, str], message: str, tmp_path: Path
) -> None:
    model, images = parse_spec(spec, folder=tmp_path), ImageFolder(tmp_path)
    environ = environ | ({"OPENAI_BASE_URL": base_url} if base_url else {})
    with pytest.raises(UsageError) as checked:
        check_provider(model, folder=tmp_path, environ=environ)
    with pytest.raises(UsageError) as opened:
        open_provider(model, folder=tmp_path, image_store=images, environ=environ)
    assert message in str(checked.value)
    assert str(opened.value) == str(checked.value)
    assert "hunter22" not in str(checked.value)
