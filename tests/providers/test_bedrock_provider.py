"""The provider ``bedrock`` against a server that refuses what the published API would refuse."""

from __future__ import annotations

import base64
import json
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
from pytest_llmeval.records import (
    Image,
    ImagePart,
    Json,
    Message,
    Reply,
    Request,
    TextPart,
    ToolCall,
)

CLAUDE = "us.anthropic.claude-sonnet-4-20250514-v1:0"
ARN = f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/{CLAUDE}"


@pytest.fixture
def bedrock(converse_server: Any, tmp_path: Path) -> Asker:
    spec = f"bedrock/m,base_url={converse_server.root},region=eu-west-1,timeout=30"
    return Asker(spec=spec, folder=tmp_path, environ={})


def seen(server: Any) -> Any:
    """Return the body of the last request that the server saw."""
    return server.report()["seen"][-1]["body"]


def test_a_question_is_answered_with_its_usage(bedrock: Asker, converse_server: Any) -> None:
    reply = bedrock(question("why?", Message.of("system", "Be brief."), temperature=0, seed=7))
    assert (reply.text, reply.stop_reason) == ("echo: why?", "stop")
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens) == (17, 4, 3)
    assert (usage.output_tokens, usage.requests) == (5, 1)
    assert reply.created > 1_700_000_000
    assert reply.latency > 0
    sent = converse_server.report()["seen"][0]
    assert "/eu-west-1/bedrock/aws4_request" in sent["headers"]["authorization"]
    assert sent["body"] == {
        "messages": [{"role": "user", "content": [{"text": "why?"}]}],
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"temperature": 0},
    }


@pytest.mark.parametrize("model", [CLAUDE, ARN, "amazon.nova-pro-v1:0"])
def test_a_models_name_may_hold_colons_and_slashes(
    bedrock: Asker, converse_server: Any, model: str
) -> None:
    spec = parse_spec(f"bedrock/{model},rpm=60", folder=bedrock.folder)
    assert (spec.name, spec.label) == (model, f"bedrock/{model}")
    converse_server.program(says={model: "it is me"})
    assert bedrock(question(model=model)).text == "it is me"


def test_what_tasks_write_goes_by_the_apis_own_names(bedrock: Asker, converse_server: Any) -> None:
    bedrock(
        question(
            max_tokens=9,
            stop="END",
            top_p=0.5,
            top_k=5,
            serviceTier={"type": "flex"},
            additionalModelRequestFields={"thinking": {"type": "disabled"}},
        )
    )
    body = seen(converse_server)
    assert body["inferenceConfig"] == {"maxTokens": 9, "stopSequences": ["END"], "topP": 0.5}
    assert body["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}, "top_k": 5}
    assert body["serviceTier"] == {"type": "flex"}


def test_pictures_go_in_their_place_among_the_text(
    bedrock: Asker, converse_server: Any, picture: Image
) -> None:
    parts = (TextPart(text="before"), ImagePart(image=picture), TextPart(text="after"))
    bedrock(replace(question(), messages=(Message(role="user", parts=parts),)))
    before, shown, after = seen(converse_server)["messages"][0]["content"]
    assert (before["text"], after["text"]) == ("before", "after")
    assert shown["image"]["format"] == "png"
    assert base64.b64decode(shown["image"]["source"]["bytes"]) == png()


def test_large_pictures_arrive_whole(bedrock: Asker, tmp_path: Path) -> None:
    (tmp_path / "large.png").write_bytes(png() + bytes(3_000_000))
    parts = (TextPart(text="big"), ImagePart(image=Image.load(tmp_path / "large.png")))
    assert bedrock(replace(question(), messages=(Message(role="user", parts=parts),))).text


def test_a_picture_in_a_reply_is_kept(bedrock: Asker, converse_server: Any) -> None:
    data = base64.b64encode(png()).decode()
    blocks = [{"image": {"format": "png", "source": {"bytes": data}}}, {"text": "There."}]
    converse_server.program(reply={"output": {"message": {"content": blocks}}})
    reply = bedrock("draw")
    assert [image.read() for image in reply.images] == [png()]
    assert reply.text == "There."


def use_of_tool(first: Reply) -> tuple[Message, Message]:
    """Return the assistant's call as a solver repeats it, and its result."""
    call = replace(first.tool_calls[0], id="call00001")
    said = Message(role="assistant", parts=(), tool_calls=(call,), continuation=first.continuation)
    return said, replace(Message.of("tool", "5"), tool_call_id=call.id)


def test_a_tool_is_called_and_its_result_goes_back_with_the_signed_reasoning(
    bedrock: Asker, converse_server: Any
) -> None:
    converse_server.program(uses={"name": "add", "input": {"a": 2, "b": 3}})
    asked = question("2 + 3?", model=CLAUDE, tools=[TOOL], reasoning_effort="high")
    first = bedrock(asked)
    (call,) = first.tool_calls
    assert (first.stop_reason, first.reasoning) == ("tool_calls", "Let me see: 2 + 3?")
    assert (call.name, call.arguments) == ("add", '{"a": 2, "b": 3}')
    second = bedrock(replace(asked, messages=(*asked.messages, *use_of_tool(first))))
    assert second.text == "echo: 5"
    assert seen(converse_server)["outputConfig"] == {"effort": "high"}


def test_hidden_reasoning_goes_back_as_it_came(bedrock: Asker, converse_server: Any) -> None:
    hidden = base64.b64encode(b"\x00secret").decode()
    use = {"toolUse": {"toolUseId": "t1", "name": "add", "input": {}}}
    blocks = [{"reasoningContent": {"redactedContent": hidden}}, use]
    converse_server.program(reply={"output": {"message": {"content": blocks}}})
    asked = question("2 + 3?", tools=[TOOL])
    first = bedrock(asked)
    bedrock(replace(asked, messages=(*asked.messages, *use_of_tool(first))))
    sent = seen(converse_server)["messages"][1]["content"]
    assert sent[0] == {"reasoningContent": {"redactedContent": hidden}}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"auto": {}}),
        ("required", {"any": {}}),
        ({"type": "function", "function": {"name": "add"}}, {"tool": {"name": "add"}}),
    ],
)
def test_the_choice_of_a_tool_is_translated(
    bedrock: Asker, converse_server: Any, choice: Any, expected: Any
) -> None:
    bedrock(question(tools=[TOOL], tool_choice=choice))
    config = seen(converse_server)["toolConfig"]
    assert config["toolChoice"] == expected
    assert config["tools"][0]["toolSpec"]["inputSchema"]["json"] == TOOL["function"]["parameters"]


def test_where_no_tool_may_be_called_earlier_calls_are_told_as_text(
    bedrock: Asker, converse_server: Any
) -> None:
    call = ToolCall(id="call00001", name="add", arguments='{"a": 2}')
    said = Message(role="assistant", parts=(), tool_calls=(call,))
    result = replace(Message.of("tool", "5"), tool_call_id=call.id)
    bedrock(
        question("So?", Message.of("user", "?"), said, result, tools=[TOOL], tool_choice="none")
    )
    body = seen(converse_server)
    assert "toolConfig" not in body
    assert [block["text"] for message in body["messages"] for block in message["content"]] == [
        "?",
        'Call call00001: add({"a": 2})',
        "Result of call00001:",
        "5",
        "So?",
    ]


def test_a_json_schema_is_sent_as_it_is(bedrock: Asker, converse_server: Any) -> None:
    schema: Json = {"type": "object", "properties": {"answer": {"type": "string"}}}
    form: Json = {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": schema, "strict": True},
    }
    assert bedrock(question(response_format=form)).text == '{"answer": "echo: why?"}'
    sent = seen(converse_server)["outputConfig"]["textFormat"]["structure"]["jsonSchema"]
    assert (sent["name"], json.loads(sent["schema"])) == ("a", schema)


def test_a_judge_goes_on_without_a_schema_that_is_refused(
    bedrock: Asker, converse_server: Any
) -> None:
    told = "This model doesn't support the outputConfig.textFormat field."
    converse_server.program(sequence=[{"kind": "400", "message": told}])
    form: Json = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    judged = replace(question(response_format=form), role="judge")
    assert [reply.text for reply in bedrock.all([judged, judged])] == ["echo: why?"] * 2
    assert converse_server.report()["requests"] == 3


@pytest.mark.parametrize(
    ("model", "effort", "fields"),
    [
        (CLAUDE, "none", {"thinking": {"type": "disabled"}}),
        (CLAUDE, "low", {"thinking": {"type": "adaptive", "display": "summarized"}}),
        (
            "amazon.nova-2-lite-v1:0",
            "low",
            {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}},
        ),
        ("openai.gpt-oss-120b-1:0", "low", {"reasoning_effort": "low"}),
    ],
)
def test_reasoning_effort_is_said_as_each_family_has_it(
    bedrock: Asker, converse_server: Any, model: str, effort: str, fields: Any
) -> None:
    bedrock(question(model=model, reasoning_effort=effort))
    assert seen(converse_server)["additionalModelRequestFields"] == fields


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "filter"),
        ("content_filtered", "filter"),
        ("malformed_tool_use", "stop"),
        ("something_new", "stop"),
    ],
)
def test_why_a_reply_ended(
    bedrock: Asker, converse_server: Any, reason: str, expected: str
) -> None:
    converse_server.program(reply={"stopReason": reason})
    assert bedrock("why?").stop_reason == expected


def test_a_guardrail_may_leave_no_message(bedrock: Asker, converse_server: Any) -> None:
    converse_server.program(reply={"stopReason": "guardrail_intervened", "output": None})
    assert bedrock("why?") is not None


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"temperature": 1.5}, "temperature is 1.5; this API takes a number from 0 to 1"),
        ({"top_p": "x"}, "top_p is 'x'"),
        ({"n": 2}, "n is 2; this API gives one reply"),
        ({"max_tokens": "many"}, "Invalid type for parameter inferenceConfig.maxTokens"),
        ({"stop": [3]}, "Invalid type for parameter inferenceConfig.stopSequences"),
        ({"response_format": {"type": "json_object"}}, "response_format has no counterpart"),
        ({"tools": [TOOL], "tool_choice": 3}, "tool_choice is 3; expected auto"),
        ({"tools": [TOOL], "parallel_tool_calls": False}, "parallel_tool_calls is false"),
        ({"guardrailConfig": {"id": "x"}}, "Unknown parameter in guardrailConfig"),
    ],
)
def test_one_error_names_what_the_api_has_no_form_for(
    bedrock: Asker, converse_server: Any, parameters: dict[str, Any], told: str
) -> None:
    error = bedrock.failure(question(**parameters))
    assert (error.reach, error.cause) == ("sample", "request")
    assert re.search(told, str(error)), str(error)
    assert converse_server.report()["requests"] == 0


def test_a_picture_to_be_drawn_is_refused(bedrock: Asker) -> None:
    request = Request(
        operation="image", provider="any", model="m", messages=(Message.of("user", "draw"),)
    )
    assert "makes no pictures" in str(bedrock.failure(request))


def test_blank_texts_and_turns_are_left_out(bedrock: Asker, converse_server: Any) -> None:
    before = (Message.of("user", "one"), Message.of("assistant", " \n"))
    assert bedrock(question("two", *before)).text == "echo: onetwo"
    assert len(seen(converse_server)["messages"]) == 1


def test_a_bearer_token_is_used_and_is_nowhere_in_replies_and_messages(
    bedrock: Asker, converse_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "bedrock-api-key-51f0c2a9e8d7"  # noqa: S105 - no real one
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", token)
    asker = Asker(
        spec=bedrock.spec, folder=bedrock.folder, environ={"AWS_BEARER_TOKEN_BEDROCK": token}
    )
    converse_server.program(says={"m": f"your token is {token}"})
    assert token not in asker("why?").text
    sent = converse_server.report()["seen"][0]["headers"]["authorization"]
    assert sent == f"Bearer {token}"
    converse_server.program(always={"kind": "400", "message": f"bad token {token}"})
    assert token not in str(asker.failure())


def test_missing_credentials_are_one_error_of_the_model(
    bedrock: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    error = bedrock.failure()
    assert (error.reach, error.cause) == ("model", "token")
    assert "set AWS_ACCESS_KEY_ID" in str(error)


def test_a_region_is_missed_before_anything_is_asked(bedrock: Asker, tmp_path: Path) -> None:
    spec = parse_spec("bedrock/m", folder=tmp_path)
    with pytest.raises(UsageError, match=r"bedrock/m: no region; set AWS_REGION"):
        check_provider(spec, folder=tmp_path, environ={})
    check_provider(spec, folder=tmp_path, environ={"AWS_REGION": "eu-west-1"})
    with pytest.raises(UsageError, match="bedrock/ models take no key"):
        parse_spec("bedrock/m,key=SOME_API_KEY", folder=tmp_path)
    assert parse_spec("openai/m,region=here", folder=tmp_path).parameters == {"region": "here"}
    assert parse_spec(bedrock.spec, folder=tmp_path).route.endswith(",region=eu-west-1")


def test_hundreds_are_in_flight_at_once(bedrock: Asker, converse_server: Any) -> None:
    converse_server.program(gather=200)
    replies = bedrock.all([question(f"q{number}") for number in range(200)], together=True)
    assert sorted(reply.text for reply in replies) == sorted(f"echo: q{n}" for n in range(200))
    assert converse_server.report()["peak"] == 200
