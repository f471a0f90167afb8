"""What a failure of the Converse API ends, and what is said of it."""

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
def bedrock(converse_server: Any, tmp_path: Path) -> Asker:
    spec = f"bedrock/m,base_url={converse_server.root},region=eu-west-1,timeout=30"
    return Asker(spec=spec, folder=tmp_path, environ={})


ON_DEMAND = "Invocation of model ID m with on-demand throughput isn’t supported."
DAILY = "Too many tokens per day, please wait before trying again."


@pytest.mark.parametrize(
    ("fault", "reach", "cause"),
    [
        ({"kind": "400"}, "sample", "400"),
        ({"kind": "400", "message": "Input is too long for requested model."}, "sample", "400"),
        ({"kind": "400", "message": "The provided model identifier is invalid."}, "model", "400"),
        ({"kind": "400", "message": ON_DEMAND}, "model", "400"),
        ({"kind": "400", "code": "ServiceQuotaExceededException"}, "attempt", "400"),
        ({"kind": "403"}, "model", "403"),
        ({"kind": "403", "code": "UnrecognizedClientException"}, "model", "403"),
        ({"kind": "403", "code": "ExpiredTokenException"}, "model", "403"),
        ({"kind": "403", "code": "InvalidSignatureException"}, "model", "403"),
        ({"kind": "404"}, "model", "404"),
        ({"kind": "408"}, "attempt", "408"),
        ({"kind": "424"}, "attempt", "424"),
        ({"kind": "429"}, "attempt", "429"),
        ({"kind": "429", "code": "ModelNotReadyException"}, "attempt", "429"),
        ({"kind": "429", "message": DAILY}, "model", "429"),
        ({"kind": "500"}, "attempt", "500"),
        ({"kind": "503"}, "attempt", "503"),
        ({"kind": "reset"}, "attempt", "reset"),
        ({"kind": "truncated"}, "attempt", "truncated"),
        ({"kind": "half"}, "attempt", "truncated"),
        ({"kind": "garbage"}, "attempt", "truncated"),
        ({"kind": "raw", "base64": "W10="}, "attempt", "truncated"),
        ({"kind": "raw", "base64": "e30="}, "attempt", "truncated"),
        ({"kind": "raw", "base64": ""}, "attempt", "truncated"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_a_failure_ends(
    bedrock: Asker, converse_server: Any, fault: dict[str, Any], reach: str, cause: str
) -> None:
    converse_server.program(always=fault)
    error = bedrock.failure()
    assert (error.reach, error.cause) == (reach, cause), str(error)
    assert converse_server.report()["requests"] == 1  # the engine repeats, the SDK never
    assert str(error).startswith("bedrock/m at 127.0.0.1:")


def test_no_setting_of_the_environment_makes_the_sdk_repeat_a_call(
    bedrock: Asker, converse_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "5")
    monkeypatch.setenv("AWS_RETRY_MODE", "adaptive")
    converse_server.program(always={"kind": "503"})
    assert bedrock.failure().cause == "503"
    assert converse_server.report()["requests"] == 1


@pytest.mark.parametrize(("header", "wait"), [("7", 7), ("0.5", 0.5), ("nan", None)])
def test_the_wait_that_the_service_asks_for_is_kept(
    bedrock: Asker, converse_server: Any, header: str, wait: float | None
) -> None:
    converse_server.program(always={"kind": "429", "retry_after": header})
    assert bedrock.failure().retry_after == wait


def test_nothing_that_answers_is_told_with_the_address(bedrock: Asker) -> None:
    error = bedrock.failure(spec="bedrock/m,base_url=http://127.0.0.1:9,region=eu-west-1")
    assert (error.reach, error.cause) == ("attempt", "unreachable")
    assert "nothing answers at http://127.0.0.1:9" in str(error)


def test_a_stalled_server_ends_in_a_timeout(bedrock: Asker, converse_server: Any) -> None:
    converse_server.program(always={"kind": "stall", "seconds": 5})
    error = bedrock.failure(spec=bedrock.spec.replace("timeout=30", "timeout=0.3"))
    assert (error.reach, error.cause) == ("attempt", "timeout")


def test_a_model_that_takes_no_temperature_says_how_to_leave_it_out(
    bedrock: Asker, converse_server: Any
) -> None:
    told = "`temperature` is deprecated for this model."
    converse_server.program(always={"kind": "400", "message": told})
    assert "temperature=null in the model's spec leaves it out" in str(bedrock.failure())


def test_a_model_that_reads_no_pictures_says_so_for_all(
    bedrock: Asker, converse_server: Any, picture: Image
) -> None:
    told = "This model doesn't support the image content block that you provided."
    converse_server.program(blind={"kind": "400", "message": told})
    parts = (TextPart(text="What is it?"), ImagePart(image=picture))
    request = replace(question(), messages=(Message(role="user", parts=parts),))
    assert bedrock.failure(request).reach == "pictures"


@pytest.mark.parametrize(
    "body",
    [
        {"output": "text"},
        {"output": {"message": {"content": 3}}},
        {"output": {"message": {"content": [3, {"text": 4}, {"toolUse": 5}]}}, "usage": "none"},
        {"output": {"message": {"content": [{"toolUse": {"toolUseId": 3, "input": "x"}}]}}},
        {"output": {"message": {"content": [{"image": {"source": {"bytes": "?"}}}]}}},
        {"output": {"message": {"content": [{"text": "\ud800"}]}}, "stopReason": ["x"]},
        {"output": {"message": {"content": [{"reasoningContent": {"reasoningText": 3}}]}}},
        {"message": "no output"},
    ],
    ids=json.dumps,
)
def test_odd_bodies_are_replies_or_failed_attempts(
    bedrock: Asker, converse_server: Any, body: Any
) -> None:
    converse_server.program(body=body)
    try:
        bedrock("why?").text.encode()
    except ProviderError as error:
        reach = error.reach
        assert reach == "attempt"


@pytest.mark.parametrize("body", [b"<html>", b"\xff\xfe", b"[]", b'{"__type": 3}', b"null"])
def test_odd_bodies_of_errors_are_told_by_their_status(
    bedrock: Asker, converse_server: Any, body: bytes
) -> None:
    converse_server.program(always={"kind": "plain", "status": 500, "text": body.decode("latin-1")})
    error = bedrock.failure()
    assert (error.reach, error.cause) == ("attempt", "500")
