"""A session over a task of one question and one with tools, by a model behind the Messages API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

RULES = "Answer by one number, on the last line. " * 80
DIRECT = f"""
name: direct
dataset: {{path: sums.jsonl}}
prompt: [{{system: "{RULES}"}}, {{user: "{{{{ input }}}}"}}]
generate: {{temperature: 0, reasoning_effort: low}}
scorer: includes
"""
AGENT = """
name: agent
dataset: {path: sums.jsonl}
prompt: [{user: "{{ input }}"}]
solver: {agent: {tools: {./tool.py:add: {}}, turns: 3}}
generate: {reasoning_effort: low}
scorer: includes
"""
TEST = """
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("{0}.yaml")

def test_{0}(sample, completion):
    assert_correct(sample, completion)
"""
TOOL = '''
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
'''


def test_direct_and_agent_run_and_their_caching_is_counted_and_priced(
    project: Project, messages_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-51f0c2a9e8d7")
    messages_server.program(uses={"name": "add", "input": {"a": 2, "b": 3}})
    (project.path / "test_sums.py").unlink()
    for name, task in (("direct", DIRECT), ("agent", AGENT)):
        project.write(f"{name}.yaml", task)
        project.write(f"test_{name}.py", TEST.format(name))
    project.write("tool.py", TOOL)
    lines = ({"id": n, "input": f"case {n}: 2 + 3?", "target": "5"} for n in range(4))
    project.write_lines("sums.jsonl", lines)
    model = f"anthropic/claude-x,base_url={messages_server.root}"
    price = "{input: 3, cached_input: 0.3, cache_write: 3.75, output: 15}"
    project.write("prices.yaml", f"anthropic/claude-x: {price}\n")
    options = ["--llmeval-prices", "prices.yaml", "--llmeval-concurrency", "1", "--llmeval-groups"]

    monkeypatch.setenv("COLUMNS", "120")
    result = project.run("--llmeval-model", model, *options)

    rows = project.rows()
    # The server answers a question by its own words, and a result by the sum.
    assert {(row["task"], row["outcome"]) for row in rows} == {
        ("direct", "incorrect"),
        ("agent", "correct"),
    }
    report = messages_server.report()
    # No call is paid twice.
    assert report["outcomes"] == {"ok": 4 + 2 * 4}
    assert all("signature" in json.dumps(one["body"]) for one in report["seen"] if used(one))
    for row in rows:
        usage = row["usage"]
        read, written = usage["cached_tokens"], usage["cache_write_tokens"]
        fresh = usage["input_tokens"] - read - written
        cost = fresh * 3 + read * 0.3 + written * 3.75 + usage["output_tokens"] * 15
        assert usage["cost"] == pytest.approx(cost / 1e6)
    direct = [row["usage"] for row in rows if row["task"] == "direct"]
    assert sum(usage["cache_write_tokens"] > 0 for usage in direct) == 1
    assert sum(usage["cached_tokens"] > 0 for usage in direct) == 2
    result.stdout.fnmatch_lines(["*tokens in*tokens out*cache read*cache write*cost*"])
    run = json.loads((project.path / "reports/latest/run.json").read_text())
    assert run["prices"] == {
        model: {
            "input": 3,
            "cached_input": 0.3,
            "cache_write": 3.75,
            "output": 15,
            "file": "prices.yaml",
        }
    }
    assert run["prices_as_of"] is None
    head = (project.path / "reports/latest/rows.csv").read_text().partition("\n")[0]
    assert "input_tokens,cached_tokens,cache_write_tokens,output_tokens,cost" in head


def used(seen: Any) -> bool:
    """Return whether a request holds the result of a tool."""
    return '"tool_result"' in json.dumps(seen["body"])
