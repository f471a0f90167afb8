"""A policy filter's refusal counts the same, whether it comes as an error or as finish reason."""

from __future__ import annotations

from typing import Any

import pytest
from providers.loopback import failure

from pytest_llmeval.records import Reply

AZURE = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management "
    "policy. Please modify your prompt and retry."
)
MODERATED = "m requires moderation on Provider. Your input was flagged for violence."


def essence(reply: Reply) -> tuple[str, str, int]:
    return reply.text, reply.stop_reason, reply.usage.requests


@pytest.mark.parametrize(
    "refusal",
    [
        {"kind": "400", "message": AZURE, "code": "content_filter"},
        {"kind": "400", "message": AZURE},
        {"kind": "400", "message": "no", "code": "content_policy_violation"},
        {"kind": "400", "message": "Your request was rejected by our safety system."},
        {"kind": "400", "message": "Invalid prompt: ... violating our usage policy."},
        {"kind": "400", "message": "Content Exists Risk"},
        {"kind": "400", "message": "no", "code": "DataInspectionFailed"},
        {"kind": "403", "message": MODERATED},
        {"kind": "403", "message": "Content violates usage guidelines. Team: x"},
    ],
    ids=lambda refusal: f"{refusal['kind']} {refusal.get('code') or refusal['message'][:24]}",
)
def test_a_refusal_as_error_is_the_same_reply_as_one_by_finish_reason(
    refusal: dict[str, str], ask: Any, model_server: Any
) -> None:
    model_server.program(finish_reason="content_filter", reply={"content": None})
    by_finish_reason = ask("q")
    model_server.program(always=refusal)
    assert essence(ask("q")) == essence(by_finish_reason) == ("", "filter", 1)
    assert model_server.report()["requests"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": AZURE, "code": "content_filter"}},
        {"error": {"message": MODERATED, "code": 403}},
        {"choices": [{"message": None, "finish_reason": "content_filter"}]},
        {"choices": [{"finish_reason": "content_filter: SAFETY"}]},
    ],
    ids=["error", "error with status", "no message", "message missing"],
)
def test_a_refusal_with_status_200_is_that_reply_too(
    body: Any, ask: Any, model_server: Any
) -> None:
    model_server.program(body=body)
    assert essence(ask("q")) == ("", "filter", 1)


def test_a_failed_response_may_be_a_filters(ask: Any, model_server: Any) -> None:
    model_server.program(always={"kind": "400", "message": AZURE, "code": "content_filter"})
    assert essence(ask("q", spec="openai/m,api=responses")) == ("", "filter", 1)
    model_server.program(
        body={"status": "failed", "error": {"code": "content_filter", "message": "no"}}
    )
    assert essence(ask("q", spec="openai/m,api=responses")) == ("", "filter", 1)


@pytest.mark.parametrize(
    ("refusal", "reach"),
    [
        ({"kind": "400", "message": "maximum context length is 4096 tokens"}, "sample"),
        ({"kind": "400", "message": "content must be a string"}, "sample"),
        ({"kind": "403", "message": "your plan has no access"}, "model"),
        ({"kind": "429", "message": "too many; see our content management policy"}, "attempt"),
        ({"kind": "500", "message": "the content filter is down: considered high risk"}, "attempt"),
        ({"kind": "500", "message": "down", "code": "content_filter"}, "attempt"),
    ],
    ids=lambda value: value if isinstance(value, str) else value["message"][:24],
)
def test_other_failures_stay_errors(
    refusal: dict[str, str], reach: str, ask: Any, model_server: Any
) -> None:
    model_server.program(always=refusal)
    assert failure(ask).reach == reach
