"""A judge at an endpoint that does not take the JSON schema of its verdict."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from providers.loopback import KEY, failure, question

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Reply, Request
from pytest_llmeval.scoring.judge import built_in_prompt

REFUSAL = {
    "kind": "400",
    "message": "'response_format' of type 'json_schema' is not supported with this model.",
}


def verdict(text: str, role: str = "judge") -> Request:
    return replace(question(text, **built_in_prompt().parameters), role=role)


def schemas(model_server: Any) -> list[bool]:
    """Return for each request that came whether it held a schema."""
    bodies = [seen["body"] for seen in model_server.report()["seen"]]
    return ["response_format" in body or "text" in body for body in bodies]


def ask_in_turn(requests: list[Request], spec: str, model_server: Any, folder: Path) -> list[Reply]:
    """Return the replies of one provider to requests one after the other."""

    async def main() -> list[Reply]:
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model_server.url}
        model, images = parse_spec(spec, folder=folder), ImageFolder(folder)
        provider = open_provider(model, folder=folder, image_store=images, environ=environ)
        try:
            return [await provider.send(request) for request in requests]
        finally:
            await provider.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openai/m", REFUSAL["message"]),
        (
            "openai/m,api=responses",
            "Invalid parameter: 'text.format' of type 'json_schema' is not supported.",
        ),
    ],
)
def test_a_judge_that_takes_no_schema_is_asked_without_and_from_then_on_at_once(
    spec: str, message: str, model_server: Any, tmp_path: Path
) -> None:
    model_server.program(sequence=[{"kind": "400", "message": message}])
    replies = ask_in_turn([verdict("a"), verdict("b", "grader")], spec, model_server, tmp_path)
    assert all("a" in reply.text or "b" in reply.text for reply in replies)
    assert schemas(model_server) == [True, False, False]


def test_another_refusal_of_a_judges_question_stays_one(ask: Any, model_server: Any) -> None:
    model_server.program(always={"kind": "400", "message": "context too long"})
    assert "context too long" in str(failure(ask, verdict("a")))
    assert schemas(model_server) == [True]


def test_what_is_refused_without_the_schema_too_is_told(ask: Any, model_server: Any) -> None:
    model_server.program(always=REFUSAL)
    assert failure(ask, verdict("a")).reach == "sample"
    assert schemas(model_server) == [True, False]


def test_the_format_that_a_task_asks_the_model_under_test_for_is_never_dropped(
    ask: Any, model_server: Any
) -> None:
    model_server.program(always=REFUSAL)
    assert "response_format" in str(failure(ask, replace(verdict("a"), role="solver")))
    assert schemas(model_server) == [True]
