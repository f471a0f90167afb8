"""Whole sessions with models at Google's and Bedrock's protocols: a direct task and an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from live.echo_project import EchoProject
from servers.cloud_fixtures import (
    converse_server,
    converse_server_process,
    gemini_server,
    gemini_server_process,
)

if TYPE_CHECKING:
    from servers.fixture import ModelServer

__all__ = ["converse_server", "converse_server_process", "gemini_server", "gemini_server_process"]

SAMPLES = 200
BEDROCK = "us.anthropic.claude-sonnet-4-20250514-v1:0"

AGENT = """
name: sums
dataset: {path: sums.jsonl, fields: {id: id, input: question, target: answer}}
prompt: [{user: "{{ input }}"}]
generate: {temperature: 0, max_tokens: 500, reasoning_effort: low}
solver: {agent: {tools: {"./tools.py:add": {}}, turns: 3}}
"""
TOOLS = '''
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
'''
TEST = """
import pytest

@pytest.mark.llmeval("sums.yaml")
def test_sums(sample, completion):
    assert sample.target in completion.text
"""


@pytest.fixture
def project(tmp_path: Path) -> EchoProject:
    project = EchoProject.make(tmp_path, samples=SAMPLES)
    (tmp_path / "sums.yaml").write_text(AGENT)
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "test_sums.py").write_text(TEST)
    row = '{"id": 1, "question": "How much is 2 + 3?", "answer": "5"}\n'
    (tmp_path / "sums.jsonl").write_text(row)
    return project


def run(project: EchoProject, server: ModelServer, model: str, **program: Any) -> None:
    """Run both tasks once, with all samples in flight, and check that each was asked once."""
    server.program(gather=SAMPLES, keep=0, **program)
    many = ("--llmeval-concurrency", str(SAMPLES), "--llmeval-groups")
    status, output = project.run("--llmeval-model", model, *many)
    assert status == 0, output
    assert f"at most {SAMPLES} in flight" in output
    assert project.outcomes()["correct"] >= SAMPLES
    told = server.report()
    assert told["peak"] == SAMPLES
    assert told["requests"] == SAMPLES + 2  # the agent asks twice
    assert told["outcomes"] == {"ok": SAMPLES + 2}


def test_a_session_at_google(
    project: EchoProject, gemini_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "test-key-51f0c2a9e8d7")
    model = f"google/gemini-3-pro,base_url={gemini_server.root}"
    run(project, gemini_server, model, uses={"name": "add", "args": {"a": 2, "b": 3}})


def test_a_session_at_bedrock(project: EchoProject, converse_server: ModelServer) -> None:
    model = f"bedrock/{BEDROCK},base_url={converse_server.root},region=eu-west-1"
    run(project, converse_server, model, uses={"name": "add", "input": {"a": 2, "b": 3}})
