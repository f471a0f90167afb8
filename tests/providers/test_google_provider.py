"""The provider ``google`` against a server that refuses what the published API would refuse."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from providers.asker import TOOL, Asker, question
from servers.openai_server import png

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.opening import check_provider
from pytest_llmeval.records import Image, ImagePart, Json, Message, Request, TextPart, ToolCall

KEY = "test-key-51f0c2a9e8d7"


@pytest.fixture
def gemini(gemini_server: Any, tmp_path: Path) -> Asker:
    environ = {"GEMINI_API_KEY": KEY}
    spec = f"google/m,base_url={gemini_server.root},timeout=30"
    return Asker(spec=spec, folder=tmp_path, environ=environ)


def seen(server: Any) -> Any:
    """Return the body of the last request that the server saw."""
    return server.report()["seen"][-1]["body"]


def test_a_question_is_answered_with_its_usage(gemini: Asker, gemini_server: Any) -> None:
    reply = gemini(question("why?", Message.of("system", "Be brief."), temperature=0, seed=7))
    assert (reply.text, reply.stop_reason, reply.model) == ("echo: why?", "stop", "m-001")
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.requests) == (10, 4, 1)
    assert (usage.output_tokens, usage.reasoning_tokens) == (7, 2)
    assert reply.created > 1_700_000_000
    assert reply.latency > 0
    sent = gemini_server.report()["seen"][0]
    assert sent["path"] == "/v1/models/m:generateContent"
    assert sent["headers"]["x-goog-api-key"] == KEY
    assert sent["body"] == {
        "contents": [{"role": "user", "parts": [{"text": "why?"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "generationConfig": {"temperature": 0, "seed": 7},
    }


def test_what_tasks_write_goes_by_the_apis_own_names(gemini: Asker, gemini_server: Any) -> None:
    gemini(
        question(
            max_tokens=9,
            stop="END",
            top_p=0.5,
            frequency_penalty=0.1,
            logprobs=True,
            top_logprobs=2,
            topK=5,
            safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        )
    )
    assert seen(gemini_server)["generationConfig"] == {
        "maxOutputTokens": 9,
        "stopSequences": ["END"],
        "topP": 0.5,
        "frequencyPenalty": 0.1,
        "responseLogprobs": True,
        "logprobs": 2,
        "topK": 5,
    }
    assert len(seen(gemini_server)["safetySettings"]) == 1


def test_pictures_go_in_their_place_among_the_text(
    gemini: Asker, gemini_server: Any, picture: Image
) -> None:
    parts = (TextPart(text="before"), ImagePart(image=picture), TextPart(text="after"))
    gemini(replace(question(), messages=(Message(role="user", parts=parts),)))
    before, shown, after = seen(gemini_server)["contents"][0]["parts"]
    assert (before["text"], after["text"]) == ("before", "after")
    assert shown["inlineData"]["mimeType"] == "image/png"
    assert base64.urlsafe_b64decode(shown["inlineData"]["data"]) == png()


def test_large_pictures_arrive_whole(gemini: Asker, tmp_path: Path) -> None:
    (tmp_path / "large.png").write_bytes(png() + bytes(3_000_000))
    parts = (TextPart(text="big"), ImagePart(image=Image.load(tmp_path / "large.png")))
    assert gemini(replace(question(), messages=(Message(role="user", parts=parts),))).text


def test_a_picture_is_drawn_from_text_and_pictures(
    gemini: Asker, gemini_server: Any, picture: Image
) -> None:
    parts = (TextPart(text="Draw the line AB."), ImagePart(image=picture))
    messages = (Message.of("system", "You draw."), Message(role="user", parts=parts))
    reply = gemini(
        Request(
            operation="image",
            provider="google",
            model="m",
            messages=messages,
            parameters={
                "temperature": 0,
                "max_tokens": 99,
                "reasoning_effort": "low",
                "tools": [TOOL],
            },
        )
    )
    assert [image.read() for image in reply.images] == [png()]
    body = seen(gemini_server)
    assert body["generationConfig"]["responseModalities"] == ["TEXT", "IMAGE"]
    assert "systemInstruction" not in body
    assert "tools" not in body
    assert len(body["contents"][0]["parts"]) == 3


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3-pro"])
def test_a_tool_is_called_and_its_result_goes_back_with_the_signature(
    gemini: Asker, gemini_server: Any, model: str
) -> None:
    gemini_server.program(uses={"name": "add", "args": {"a": 2, "b": 3}})
    asked = question("2 + 3?", model=model, tools=[TOOL], tool_choice="auto")
    first = gemini(asked)
    (call,) = first.tool_calls
    assert (first.stop_reason, call.name, call.arguments) == (
        "tool_calls",
        "add",
        '{"a": 2, "b": 3}',
    )
    said = Message(
        role="assistant",
        parts=(),
        tool_calls=(replace(call, id="call00001"),),
        continuation=first.continuation,
    )
    result = replace(Message.of("tool", "5"), tool_call_id="call00001")
    second = gemini(replace(asked, messages=(*asked.messages, said, result)))
    assert second.text == 'echo: {"output": "5"}'
    _, called, told = seen(gemini_server)["contents"]
    assert called["parts"][0]["functionCall"]["id"] == "call00001"
    response = told["parts"][0]["functionResponse"]
    assert (response["id"], response["name"]) == ("call00001", "add")


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (
            {"type": "function", "function": {"name": "add"}},
            {"mode": "ANY", "allowedFunctionNames": ["add"]},
        ),
    ],
)
def test_the_choice_of_a_tool_is_translated(
    gemini: Asker, gemini_server: Any, choice: Any, expected: Any
) -> None:
    gemini(question(tools=[TOOL], tool_choice=choice))
    assert seen(gemini_server)["toolConfig"] == {"functionCallingConfig": expected}


def test_the_services_own_tools_stay_as_they_are(gemini: Asker, gemini_server: Any) -> None:
    gemini(question(tools=[{"google_search": {}}]))
    assert seen(gemini_server)["tools"] == [{"googleSearch": {}}]


def test_a_json_schema_is_sent_as_it_is(gemini: Asker, gemini_server: Any) -> None:
    schema: Json = {
        "type": "object",
        "properties": {"answer": {"$ref": "#/$defs/a"}},
        "required": ["answer"],
        "additionalProperties": False,
        "$defs": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    }
    form: Json = {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": schema, "strict": True},
    }
    assert gemini(question(response_format=form)).text == '{"answer": "echo: why?"}'
    config = seen(gemini_server)["generationConfig"]
    assert config == {"responseMimeType": "application/json", "responseJsonSchema": schema}


def test_a_judge_goes_on_without_a_schema_that_is_refused(
    gemini: Asker, gemini_server: Any
) -> None:
    refusal = {"kind": "400", "message": "JSON mode is not enabled for this model"}
    gemini_server.program(sequence=[refusal])
    form: Json = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    judged = replace(question(response_format=form), role="judge")
    assert [reply.text for reply in gemini.all([judged, judged])] == ["echo: why?"] * 2
    assert gemini_server.report()["requests"] == 3


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "low", {"thinkingBudget": 1024, "includeThoughts": True}),
        ("gemini-2.5-pro", "high", {"thinkingBudget": 24576, "includeThoughts": True}),
        ("gemini-3-pro", "high", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("gemini-3-flash", "minimal", {"thinkingLevel": "MINIMAL", "includeThoughts": True}),
    ],
)
def test_reasoning_effort_is_a_budget_or_a_level(
    gemini: Asker, gemini_server: Any, model: str, effort: str, expected: Any
) -> None:
    reply = gemini(question(model=model, reasoning_effort=effort))
    assert seen(gemini_server)["generationConfig"]["thinkingConfig"] == expected
    assert reply.reasoning == ("" if effort == "none" else "Let me see: why?")
    assert reply.text == "echo: why?"


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "filter"),
        ("RECITATION", "filter"),
        ("PROHIBITED_CONTENT", "filter"),
        ("SPII", "filter"),
        ("IMAGE_SAFETY", "filter"),
        ("MALFORMED_FUNCTION_CALL", "stop"),
        ("SOMETHING_NEW", "stop"),
    ],
)
def test_why_a_reply_ended(gemini: Asker, gemini_server: Any, finish: str, expected: str) -> None:
    gemini_server.program(
        reply={"candidates": [{"finishReason": finish, "continuationToken": "eA=="}]}
    )
    reply = gemini("why?")
    assert (reply.text, reply.stop_reason) == ("", expected)
    assert gemini_server.report()["requests"] == 1  # no hidden request continues a reply


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"])
def test_a_blocked_prompt_is_a_reply_of_the_filter(
    gemini: Asker, gemini_server: Any, reason: str
) -> None:
    gemini_server.program(
        body={"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 8}}
    )
    reply = gemini("why?")
    assert (reply.text, reply.stop_reason, reply.usage.input_tokens) == ("", "filter", 8)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"reasoning_effort": "huge"}, "reasoning_effort is 'huge'; expected one of none, min"),
        ({"verbosity": "low"}, "verbosity has no counterpart .* verbosity=null leaves it out"),
        ({"temperature": "hot"}, "temperature: .*number"),
        ({"seed": 2**40}, "seed is 1099511627776; this API takes"),
        ({"response_format": {"type": "grammar"}}, "response_format has no counterpart"),
        ({"tools": [TOOL], "tool_choice": 3}, "tool_choice is 3; expected auto"),
        ({"tools": [TOOL], "parallel_tool_calls": False}, "parallel_tool_calls is false"),
        ({"http_options": {}}, "http_options has no counterpart"),
        ({"image_config": {"aspect": "1:1"}}, r"image_config.aspect: Extra inputs"),
        ({"routing_config": {"auto_mode": {}}}, "routing_config .* only supported"),
    ],
)
def test_one_error_names_what_the_api_has_no_form_for(
    gemini: Asker, gemini_server: Any, parameters: dict[str, Any], told: str
) -> None:
    error = gemini.failure(question(**parameters))
    assert (error.reach, error.cause) == ("sample", "request")
    assert re.search(told, str(error)), str(error)
    assert gemini_server.report()["requests"] == 0


def test_empty_texts_and_turns_are_left_out(gemini: Asker, gemini_server: Any) -> None:
    before = (Message.of("user", "one"), Message.of("assistant", ""))
    assert gemini(question("two", *before)).text == "echo: onetwo"
    assert len(seen(gemini_server)["contents"]) == 1


def test_a_call_without_its_result_is_told_before_anything_is_paid(
    gemini: Asker, gemini_server: Any
) -> None:
    call = ToolCall(id="call7", name="add", arguments="{}")
    said = Message(role="assistant", parts=(), tool_calls=(call,))
    error = gemini.failure(question("and?", Message.of("user", "2 + 3?"), said, tools=[TOOL]))
    assert "the tool call 'call7' has no result" in str(error)
    assert gemini_server.report()["requests"] == 0


def test_the_key_is_nowhere_in_replies_and_messages(gemini: Asker, gemini_server: Any) -> None:
    gemini_server.program(says={"m": f"your key is {KEY}"})
    assert KEY not in gemini("why?").text
    gemini_server.program(always={"kind": "400", "message": f"bad key {KEY}"})
    assert KEY not in str(gemini.failure())


def test_a_key_is_missed_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="google/m: no key; set GOOGLE_API_KEY"):
        check_provider(parse_spec("google/m", folder=tmp_path), folder=tmp_path, environ={})
    local = parse_spec("google/m,base_url=http://localhost:1", folder=tmp_path)
    check_provider(local, folder=tmp_path, environ={})


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("location=eu", "location=eu needs project=NAME"),
        ("project=p,key=OTHER_API_KEY", "Vertex AI take no key"),
    ],
)
def test_places_of_vertex_are_checked(tmp_path: Path, settings: str, told: str) -> None:
    spec = parse_spec(f"google/m,{settings}", folder=tmp_path)
    with pytest.raises(UsageError, match=told):
        check_provider(spec, folder=tmp_path, environ={})


def test_a_missing_package_is_one_error_that_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_llmeval.providers.extras.find_spec", lambda name: None)  # noqa: ARG005
    spec = parse_spec("google/m", folder=tmp_path)
    with pytest.raises(UsageError, match=r"google.genai is not installed.*\[google\]"):
        check_provider(spec, folder=tmp_path, environ={"GEMINI_API_KEY": KEY})


def test_hundreds_are_in_flight_at_once(gemini: Asker, gemini_server: Any) -> None:
    gemini_server.program(gather=200)
    replies = gemini.all([question(f"q{number}") for number in range(200)], together=True)
    assert sorted(reply.text for reply in replies) == sorted(f"echo: q{n}" for n in range(200))
    assert gemini_server.report()["peak"] == 200
