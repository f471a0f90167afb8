"""What a failure of the Gemini API ends, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from providers.asker import Asker, question

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Image, ImagePart, Message, TextPart


@pytest.fixture
def gemini(gemini_server: Any, tmp_path: Path) -> Asker:
    spec = f"google/m,base_url={gemini_server.root},timeout=30"
    return Asker(spec=spec, folder=tmp_path, environ={"GOOGLE_API_KEY": "test-key-51f0c2a9e8d7"})


LONG = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
DAILY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
BY_MINUTE = "GenerateRequestsPerMinutePerProjectPerModel"
PLACE = "User location is not supported for the API use."


@pytest.mark.parametrize(
    ("fault", "reach", "cause"),
    [
        ({"kind": "400"}, "sample", "400"),
        ({"kind": "400", "message": LONG}, "sample", "400"),
        ({"kind": "400", "reason": "API_KEY_INVALID"}, "model", "400"),
        ({"kind": "400", "message": PLACE, "state": "FAILED_PRECONDITION"}, "model", "400"),
        ({"kind": "401"}, "model", "401"),
        ({"kind": "403"}, "model", "403"),
        ({"kind": "403", "message": "<html>Blocked</html>"}, "sample", "403"),
        ({"kind": "404"}, "model", "404"),
        ({"kind": "429", "quota": BY_MINUTE, "retry_delay": "34s"}, "attempt", "429"),
        ({"kind": "429", "quota": DAILY, "retry_delay": "34s"}, "model", "429"),
        ({"kind": "500"}, "attempt", "500"),
        ({"kind": "503"}, "attempt", "503"),
        ({"kind": "504"}, "attempt", "504"),
        ({"kind": "reset"}, "attempt", "reset"),
        ({"kind": "truncated"}, "attempt", "truncated"),
        ({"kind": "half"}, "attempt", "truncated"),
        ({"kind": "garbage"}, "attempt", "truncated"),
        ({"kind": "raw", "base64": "W10="}, "attempt", "truncated"),
        ({"kind": "raw", "base64": "e30="}, "attempt", "truncated"),
        ({"kind": "raw", "base64": ""}, "attempt", "truncated"),
        ({"kind": "redirect", "location": "http://127.0.0.1:1/"}, "attempt", "redirect"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_a_failure_ends(
    gemini: Asker, gemini_server: Any, fault: dict[str, Any], reach: str, cause: str
) -> None:
    gemini_server.program(always=fault)
    error = gemini.failure()
    assert (error.reach, error.cause) == (reach, cause), str(error)
    assert gemini_server.report()["requests"] == 1  # the engine repeats, the SDK never
    assert str(error).startswith("google/m at 127.0.0.1:")


@pytest.mark.parametrize(
    ("fault", "wait"),
    [
        ({"retry_delay": "34.5s"}, 34.5),
        ({"retry_delay": "34s", "retry_after": "7"}, 34),
        ({"retry_after": "7"}, 7),
        ({"retry_delay": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_the_service_asks_for_is_kept(
    gemini: Asker, gemini_server: Any, fault: dict[str, Any], wait: float | None
) -> None:
    gemini_server.program(always={"kind": "429", **fault})
    assert gemini.failure().retry_after == wait


def test_nothing_that_answers_is_told_with_the_address(gemini: Asker) -> None:
    error = gemini.failure(spec="google/m,base_url=http://127.0.0.1:9")
    assert (error.reach, error.cause) == ("attempt", "unreachable")
    assert "nothing answers at http://127.0.0.1:9" in str(error)


def test_a_stalled_server_ends_in_a_timeout(gemini: Asker, gemini_server: Any) -> None:
    gemini_server.program(always={"kind": "stall", "seconds": 5})
    error = gemini.failure(spec=gemini.spec.replace("timeout=30", "timeout=0.3"))
    assert (error.reach, error.cause) == ("attempt", "timeout")


def test_a_model_that_reads_no_pictures_says_so_for_all(
    gemini: Asker, gemini_server: Any, picture: Image
) -> None:
    told = "Image input modality is not enabled for models/m"
    gemini_server.program(blind={"kind": "400", "message": told})
    parts = (TextPart(text="What is it?"), ImagePart(image=picture))
    request = replace(question(), messages=(Message(role="user", parts=parts),))
    assert gemini.failure(request).reach == "pictures"


@pytest.mark.parametrize(
    ("finish", "reach"),
    [("MISSING_THOUGHT_SIGNATURE", "sample"), ("PUP_LIMITED_DISABLED", "model")],
)
def test_finish_reasons_may_be_failures(
    gemini: Asker, gemini_server: Any, finish: str, reach: str
) -> None:
    gemini_server.program(reply={"candidates": [{"finishReason": finish}]})
    error = gemini.failure()
    assert error.reach == reach
    assert finish in str(error)


@pytest.mark.parametrize(
    "body",
    [
        {"candidates": "text"},
        {"candidates": [3]},
        {"candidates": [{"content": 3, "finishReason": 5}], "usageMetadata": "none"},
        {"candidates": [{"content": {"parts": [3, {"text": 4}, {"functionCall": {}}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"args": "x", "id": 3}}]}}]},
        {"candidates": [{"content": {"parts": [{"inlineData": {"data": "?"}}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "\ud800"}]}}]},
        {"promptFeedback": "no"},
        {"error": "a text"},
        {"error": {"code": 5, "details": ["x", {"violations": [4]}]}},
    ],
    ids=json.dumps,
)
def test_odd_bodies_are_replies_or_failed_attempts(
    gemini: Asker, gemini_server: Any, body: Any
) -> None:
    gemini_server.program(body=body)
    try:
        gemini("why?").text.encode()
    except ProviderError as error:
        reach = error.reach
        assert reach == "attempt"


@pytest.mark.parametrize("body", [b"<html>", b"\xff\xfe", b"[]", b'{"error": 3}', b'{"error": []}'])
def test_odd_bodies_of_errors_are_told_by_their_status(
    gemini: Asker, gemini_server: Any, body: bytes
) -> None:
    gemini_server.program(always={"kind": "plain", "status": 500, "text": body.decode("latin-1")})
    error = gemini.failure()
    assert (error.reach, error.cause) in {("attempt", "500"), ("attempt", "truncated")}
