"""The provider ``anthropic`` against a server that refuses what the published API would refuse."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from providers.asker import KEY, TOOL, Asker, asker_of_claude, question
from servers.openai_server import png

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.opening import check_provider, open_provider
from pytest_llmeval.records import Image, ImagePart, Json, Message, Reply, TextPart, ToolCall


@pytest.fixture
def claude(messages_server: Any, tmp_path: Path) -> Asker:
    return asker_of_claude(messages_server.root, tmp_path)


def seen(server: Any) -> Any:
    """Return the body of the last request that the server saw."""
    return server.report()["seen"][-1]["body"]


def test_a_question_is_answered_with_its_usage(claude: Asker, messages_server: Any) -> None:
    reply = claude(question("why?", Message.of("system", "Be brief.")))
    assert (reply.text, reply.stop_reason, reply.model) == ("echo: why?", "stop", "m-20260101")
    assert (reply.usage.output_tokens, reply.usage.reasoning_tokens) == (5, 2)
    assert reply.usage.input_tokens > 0
    assert (reply.usage.requests, reply.created > 0, reply.latency > 0) == (1, True, True)
    sent = messages_server.report()["seen"][0]
    assert sent["body"]["system"] == [{"type": "text", "text": "Be brief."}]
    assert sent["body"]["max_tokens"] == 32_000
    assert sent["headers"]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_the_address_may_end_in_the_version_of_the_path(
    claude: Asker, messages_server: Any, path: str
) -> None:
    environ = {"ANTHROPIC_BASE_URL": messages_server.root + path}
    assert claude("why?", environ=environ).text == "echo: why?"


def test_a_picture_goes_as_base64(claude: Asker, messages_server: Any, tmp_path: Path) -> None:
    (tmp_path / "diagram.png").write_bytes(png())
    parts = (TextPart(text="What is it?"), ImagePart(image=Image.load(tmp_path / "diagram.png")))
    request = replace(question(), messages=(Message(role="user", parts=parts),))
    assert claude(request).text == "echo: What is it?"
    assert seen(messages_server)["messages"][0]["content"][1]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(png()).decode(),
    }


def test_large_pictures_arrive_whole(claude: Asker, tmp_path: Path) -> None:
    (tmp_path / "big.png").write_bytes(png() + b"x" * 3_000_000)
    parts = (TextPart(text="big"), ImagePart(image=Image.load(tmp_path / "big.png")))
    assert claude(replace(question(), messages=(Message(role="user", parts=parts),))).text


def test_a_tool_is_called_and_its_result_goes_back_with_the_signed_reasoning(
    claude: Asker, messages_server: Any
) -> None:
    messages_server.program(uses={"name": "add", "input": {"a": 2, "b": 3}})
    thinking = {"type": "enabled", "budget_tokens": 2000}
    first = question("2 + 3?", tools=[TOOL], thinking=thinking)
    reply = claude(first)
    assert reply.stop_reason == "tool_calls"
    assert reply.reasoning == "Let me see: 2 + 3?"
    (call,) = reply.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("add", {"a": 2, "b": 3})
    result = replace(Message.of("tool", "5"), tool_call_id=call.id)
    said = Message(role="assistant", parts=(), tool_calls=(call,), continuation=reply.continuation)
    second = replace(first, messages=(*first.messages, said, result))
    # The server refuses a call without the reasoning before it, and reasoning that was changed.
    assert claude(second).text == "echo: 5"
    bare = replace(second, messages=(*first.messages, replace(said, continuation=""), result))
    assert claude.failure(bare).status == 400
    assert bare.key == second.key


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"type": "function", "function": {"name": "add"}}, {"type": "tool", "name": "add"}),
        ({"type": "tool", "name": "add"}, {"type": "tool", "name": "add"}),
        (None, None),
    ],
)
def test_the_choice_of_a_tool_is_translated(
    claude: Asker, messages_server: Any, choice: Any, sent: Any
) -> None:
    given = {} if choice is None else {"tool_choice": choice}
    claude(question(tools=[TOOL], **given))
    body = seen(messages_server)
    assert body.get("tool_choice") == sent
    assert body["tools"][0]["input_schema"] == TOOL["function"]["parameters"]


def test_calls_may_be_kept_to_one_at_a_time(claude: Asker, messages_server: Any) -> None:
    claude(question(tools=[TOOL], parallel_tool_calls=False))
    assert seen(messages_server)["tool_choice"] == {
        "type": "auto",
        "disable_parallel_tool_use": True,
    }


def test_a_json_schema_becomes_the_answers_format(claude: Asker, messages_server: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": 9}},
        "required": ["answer"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": True}}
    reply = claude(question(response_format=form))
    assert json.loads(reply.text) == {"answer": "echo: why?"}
    sent = seen(messages_server)["output_config"]["format"]
    assert (sent["type"], sent["schema"]["required"]) == ("json_schema", ["answer"])
    assert sent["schema"]["additionalProperties"] is False


def test_a_judge_goes_on_without_a_schema_that_is_refused(
    claude: Asker, messages_server: Any
) -> None:
    refusal = {"kind": "400", "message": "output_config.format: not supported by this model"}
    messages_server.program(sequence=[refusal])
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    judge = replace(question(response_format=form), role="judge")
    replies = claude.all([judge, replace(judge, draw=1)])
    assert [reply.text for reply in replies] == ["echo: why?"] * 2
    bodies = [one["body"] for one in messages_server.report()["seen"]]
    assert ["output_config" in body for body in bodies] == [True, False, False]


@pytest.mark.parametrize(
    ("effort", "thinking", "config"),
    [
        ("none", "disabled", None),
        ("minimal", "adaptive", {"effort": "low"}),
        ("high", "adaptive", {"effort": "high"}),
        ("max", "adaptive", {"effort": "max"}),
    ],
)
def test_reasoning_effort_is_thinking_and_effort(
    claude: Asker, messages_server: Any, effort: str, thinking: str, config: Any
) -> None:
    reply = claude(question(reasoning_effort=effort))
    body = seen(messages_server)
    assert (body["thinking"]["type"], body.get("output_config")) == (thinking, config)
    assert bool(reply.reasoning) == (effort != "none")
    assert reply.text == "echo: why?"


def test_a_temperature_is_sent_in_the_version_of_the_api_that_has_it(
    claude: Asker, messages_server: Any
) -> None:
    claude(question(temperature=0))
    claude(question(seed=7))
    first, second = messages_server.report()["seen"]
    assert (first["body"]["temperature"], first["headers"]["anthropic-version"]) == (
        0,
        "2023-06-01",
    )
    assert second["headers"]["anthropic-version"] == "2026-10-21"
    assert "seed" not in second["body"]


def test_a_model_that_takes_no_temperature_says_how_to_leave_it_out(
    claude: Asker, messages_server: Any
) -> None:
    told = "`temperature` is deprecated for this model."
    messages_server.program(always={"kind": "400", "message": told})
    error = claude.failure(question(temperature=0))
    assert error.reach == "sample"
    assert "temperature=null" in str(error)


@pytest.mark.parametrize(
    ("stop_reason", "ended"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "length"),
        ("refusal", "refusal"),
        ("a new one", "stop"),
        (None, "stop"),
    ],
)
def test_why_a_reply_ended(
    claude: Asker, messages_server: Any, stop_reason: str | None, ended: str
) -> None:
    messages_server.program(reply={"stop_reason": stop_reason})
    assert claude("why?").stop_reason == ended


def test_a_refusal_without_text_shows_its_explanation(claude: Asker, messages_server: Any) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "No."}
    empty = {"content": [], "stop_reason": "refusal", "stop_details": details}
    messages_server.program(reply=empty)
    reply = claude("why?")
    assert (reply.text, reply.stop_reason) == ("No.", "refusal")


def test_cached_tokens_are_among_the_input_tokens(claude: Asker, messages_server: Any) -> None:
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 3,
    }
    messages_server.program(reply={"usage": usage})
    found = claude("why?").usage
    assert (found.input_tokens, found.cached_tokens, found.cache_write_tokens) == (127, 100, 20)


def test_one_error_names_a_request_that_the_api_has_no_form_for(claude: Asker) -> None:
    told = claude.failure(question(response_format={"type": "json_object"}))
    assert "response_format has no counterpart" in str(told)
    assert "expected one of none, minimal" in str(claude.failure(question(reasoning_effort="hi")))
    endless = claude.failure(question(temperature=float("inf")))
    assert "temperature holds a number that JSON cannot express" in str(endless)
    only_system = replace(question(), messages=(Message.of("system", "Be brief."),))
    assert "besides the system's" in str(claude.failure(only_system))
    drawing = replace(question(), operation="image")
    assert "makes no pictures" in str(claude.failure(drawing))


def test_blank_texts_and_turns_are_left_out(claude: Asker, messages_server: Any) -> None:
    before = (Message.of("user", "one"), Message.of("assistant", " "))
    assert claude(question("two", *before)).text == "echo: onetwo"
    assert len(seen(messages_server)["messages"]) == 1


def test_calls_of_other_models_are_put_into_the_apis_form(
    claude: Asker, messages_server: Any
) -> None:
    call = ToolCall(id="call 1/é", name="add", arguments="not JSON")
    said = Message(role="assistant", parts=(), tool_calls=(call,))
    result = replace(Message.of("tool", "5"), tool_call_id=call.id)
    claude(question("and?", Message.of("user", "2 + 3?"), said, result, tools=[TOOL]))
    [_, asked, answered] = seen(messages_server)["messages"]
    used = asked["content"][0]
    assert used["input"] == {"arguments": "not JSON"}
    assert used["id"] == answered["content"][0]["tool_use_id"]


def test_the_key_is_nowhere_in_replies_and_messages(claude: Asker, messages_server: Any) -> None:
    messages_server.program(says={"m": f"your key is {KEY}"})
    assert KEY not in claude("why?").text
    thought = {"type": "thinking", "thinking": KEY, "signature": KEY}
    called = {"type": "tool_use", "id": "1", "name": KEY, "input": {"key": KEY}}
    messages_server.program(reply={"content": [thought, called]})
    assert KEY not in str(claude("why?").to_json())
    messages_server.program(always={"kind": "401", "message": f"invalid key {KEY}"})
    error = claude.failure()
    assert KEY not in str(error)
    assert error.__cause__ is None


def test_a_key_is_missed_before_anything_is_asked(tmp_path: Path) -> None:
    def check(spec: str, **environ: str) -> None:
        check_provider(parse_spec(spec, folder=tmp_path), folder=tmp_path, environ=environ)

    with pytest.raises(UsageError, match="anthropic/m: no key; set ANTHROPIC_API_KEY"):
        check("anthropic/m")
    check("anthropic/m", ANTHROPIC_API_KEY=KEY)
    check("anthropic/m,base_url=http://localhost:1")
    with pytest.raises(UsageError, match="MY_API_KEY is not set"):
        check("anthropic/m,base_url=http://localhost:1,key=MY_API_KEY")


def test_a_missing_package_is_one_error_that_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_llmeval.providers.extras.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'pytest-llmeval-suite\[anthropic\]'"):
        open_provider(
            parse_spec("anthropic/m", folder=tmp_path),
            folder=tmp_path,
            image_store=None,  # type: ignore[arg-type]  # nothing is opened
            environ={"ANTHROPIC_API_KEY": KEY},
        )


def test_hundreds_are_in_flight_at_once(claude: Asker, messages_server: Any) -> None:
    messages_server.program(latency=1)
    requests = [question(f"q{number}") for number in range(150)]
    replies = claude.all(requests, together=True)
    assert [reply.text for reply in replies] == [f"echo: q{n}" for n in range(150)]
    assert messages_server.report()["peak"] > 100


def test_a_requests_identity_knows_nothing_of_caching_and_is_that_of_earlier_versions() -> None:
    assert parse_spec("anthropic/m,cache=off", folder=Path()).route == ""
    call = ToolCall(id="c1", name="add", arguments="{}")
    messages = (
        Message.of("system", "Be brief."),
        Message.of("user", "2 + 3?"),
        Message(role="assistant", parts=(), tool_calls=(call,), continuation="[]"),
        replace(Message.of("tool", "5"), tool_call_id="c1"),
    )
    request = replace(question(temperature=0), provider="anthropic", messages=messages)
    assert request.key == "a4bc1da5bda8f6d850bac464983c49a87ab7a79f21b7f1a7a1a8a89e9cc97d10"


def test_a_reply_of_earlier_versions_is_read() -> None:
    usage: dict[str, Json] = {"input_tokens": 3, "cached_tokens": 1, "output_tokens": 2}
    reply = Reply.from_json({"text": "a", "usage": usage})
    assert (reply.continuation, reply.usage.cache_write_tokens) == ("", 0)


@pytest.mark.parametrize("spec", ["anthropic/m,cache=maybe", "openai/m,cache=on"])
def test_cache_is_on_or_off_where_there_is_a_choice(spec: str) -> None:
    with pytest.raises(UsageError, match="cache"):
        parse_spec(spec, folder=Path())
