"""Replies that are odd and came whole: each is asked for once, and scored as it is."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

AZURE = "The response was filtered due to ... Azure OpenAI's content management policy."


def run(project: Project, model_server: Any, **program: Any) -> list[dict[str, Any]]:
    """Return the rows of two samples, whose model is a server with this program."""
    model_server.program(**program)
    model = f"openai/m,base_url={model_server.url}"
    project.run("--llmeval-model", model, "--llmeval-limit", "2")
    return project.rows()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the server's client a key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def test_odd_bytes_and_absurd_usage_cost_one_request_each(
    project: Project, model_server: Any
) -> None:
    usage = b'{"prompt_tokens": 1' + b"0" * 5000 + b', "completion_tokens": -Infinity}'
    body = b'{"choices": [{"message": {"content": "so \xff\x01\n1"}}], "usage": ' + usage + b"}"
    raw = {"kind": "raw", "base64": base64.b64encode(body).decode()}
    rows = run(project, model_server, always=raw)
    assert [(row["outcome"], row["answer"]) for row in rows] == [
        ("correct", "1"),
        ("incorrect", "1"),
    ]
    assert model_server.report()["requests"] == 2
    assert {row["usage"]["input_tokens"] for row in rows} == {0}


def test_a_filter_counts_the_same_as_error_and_as_finish_reason(
    project: Project, model_server: Any
) -> None:
    refusal = {"kind": "400", "message": AZURE, "code": "content_filter"}
    kept = ("outcome", "answer", "stop_reason", "scores", "explanation")
    by_error = run(project, model_server, always=refusal)
    first = (project.path / "reports/latest/summary.md").read_text()
    by_reason = run(project, model_server, finish_reason="content_filter", reply={"content": ""})
    assert [[row[name] for name in kept] for row in by_error] == [
        [row[name] for name in kept] for row in by_reason
    ]
    assert [(row["outcome"], row["stop_reason"]) for row in by_error] == [
        ("incorrect", "filter"),
        ("incorrect", "filter"),
    ]
    assert "cut replies: filter 2" in first
