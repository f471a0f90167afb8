"""What a failure of the Messages API ends, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from providers.asker import Asker, asker_of_claude, question

from pytest_llmeval.records import Image, ImagePart, Message, TextPart


@pytest.fixture
def claude(messages_server: Any, tmp_path: Path) -> Asker:
    return asker_of_claude(messages_server.root, tmp_path)


SPENT = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
LIMIT = "You have reached your specified workspace API usage limits. You will regain access on ..."
TIER = "You have reached your API usage limits: your organization has crossed its monthly API usage"


@pytest.mark.parametrize(
    ("fault", "reach", "cause"),
    [
        ({"kind": "400"}, "sample", "400"),
        ({"kind": "400", "message": SPENT}, "model", "400"),
        ({"kind": "400", "message": LIMIT}, "model", "400"),
        ({"kind": "429", "message": TIER, "code": "enforced_spend_limit_reached"}, "model", "429"),
        (
            {"kind": "429", "message": "spent", "code": "contract_spend_limit_reached"},
            "model",
            "429",
        ),
        ({"kind": "400", "message": "on hold", "code": "organization_on_hold"}, "model", "400"),
        ({"kind": "400", "message": "prompt is too long: 9 > 5 maximum"}, "sample", "400"),
        ({"kind": "401"}, "model", "401"),
        ({"kind": "402"}, "model", "402"),
        ({"kind": "403"}, "model", "403"),
        ({"kind": "404", "message": "model: nosuch"}, "model", "404"),
        ({"kind": "408"}, "attempt", "408"),
        ({"kind": "409"}, "attempt", "409"),
        ({"kind": "413"}, "sample", "413"),
        ({"kind": "429"}, "attempt", "429"),
        ({"kind": "500"}, "attempt", "500"),
        ({"kind": "504"}, "attempt", "504"),
        ({"kind": "529"}, "attempt", "529"),
        ({"kind": "529", "shown_as": 200}, "attempt", "529"),
        ({"kind": "429", "shown_as": 200}, "attempt", "429"),
        ({"kind": "401", "shown_as": 200}, "model", "401"),
        ({"kind": "served"}, "attempt", "served"),
        ({"kind": "reset"}, "attempt", "reset"),
        ({"kind": "truncated"}, "attempt", "truncated"),
        ({"kind": "half"}, "attempt", "truncated"),
        ({"kind": "garbage"}, "attempt", "truncated"),
        ({"kind": "raw", "base64": "W10="}, "attempt", "truncated"),
        ({"kind": "raw", "base64": "e30="}, "attempt", "truncated"),
        ({"kind": "raw", "base64": "bnVsbA=="}, "attempt", "truncated"),
        ({"kind": "redirect", "location": "http://127.0.0.1:1/"}, "attempt", "redirect"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_a_failure_ends(
    claude: Asker, messages_server: Any, fault: dict[str, Any], reach: str, cause: str
) -> None:
    messages_server.program(always=fault)
    error = claude.failure()
    assert (error.reach, error.cause) == (reach, cause), str(error)
    assert messages_server.report()["requests"] == 1  # the engine repeats, the SDK never
    assert str(error).startswith("anthropic/m at 127.0.0.1:")


def test_nothing_that_answers_is_told_with_the_address(claude: Asker) -> None:
    error = claude.failure(environ={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
    assert (error.reach, error.cause) == ("attempt", "unreachable")
    assert "nothing answers at http://127.0.0.1:9" in str(error)


@pytest.mark.parametrize(
    ("header", "low", "high"), [("7", 7, 7), ("0.5", 0.5, 0.5), ("nan", None, None)]
)
def test_the_wait_that_the_server_asks_for_is_kept(
    claude: Asker, messages_server: Any, header: str, low: float | None, high: float | None
) -> None:
    messages_server.program(always={"kind": "429", "retry_after": header})
    assert claude.failure().retry_after in {low, high}


def test_a_stalled_server_ends_in_a_timeout(claude: Asker, messages_server: Any) -> None:
    messages_server.program(always={"kind": "stall", "seconds": 5})
    error = claude.failure(spec="anthropic/m,timeout=0.3")
    assert (error.reach, error.cause) == ("attempt", "timeout")


def test_a_firewalls_page_is_about_its_request(claude: Asker, messages_server: Any) -> None:
    messages_server.program(always={"kind": "403", "message": "<html>Blocked</html>"})
    assert claude.failure().reach == "sample"


def test_a_filter_of_a_gateway_is_a_reply(claude: Asker, messages_server: Any) -> None:
    messages_server.program(
        always={"kind": "400", "message": "The request was rejected", "code": "content_filter"}
    )
    assert claude("why?").stop_reason == "filter"


def test_a_model_that_reads_no_pictures_says_so_for_all(
    claude: Asker, messages_server: Any, picture: Image
) -> None:
    told = "this model does not support image input"
    messages_server.program(blind={"kind": "400", "message": told})
    parts = (TextPart(text="What is it?"), ImagePart(image=picture))
    request = replace(question(), messages=(Message(role="user", parts=parts),))
    assert claude.failure(request).reach == "pictures"


@pytest.mark.parametrize(
    "body",
    [
        {"content": "text"},
        {"content": [3, None, {"type": "text"}, {"type": 5, "text": "x"}]},
        {"content": [], "usage": "none", "stop_reason": 3, "model": None},
        {"content": [{"type": "tool_use", "id": 3, "name": None, "input": "x"}], "usage": {}},
        {"content": [{"type": "text", "text": "\ud800"}]},
        {"error": "a text"},
        {"type": "error"},
        {"type": "error", "error": {"type": ["x"], "message": {}}},
    ],
)
def test_odd_bodies_are_replies_or_failed_attempts(
    claude: Asker, messages_server: Any, body: Any
) -> None:
    messages_server.program(body=body)
    try:
        reply = claude("why?")
    except AssertionError:
        raise
    except Exception:  # noqa: BLE001 - which error is what the next line looks at
        assert claude.failure().reach == "attempt"
    else:
        reply.text.encode()
