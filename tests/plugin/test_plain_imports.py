"""Modules of this package are imported past pytest's rewriting of assertions, and only these."""

from __future__ import annotations

import sys

import pytest

TASK = "name: echo\nprompt: '{{ input }}'\ndataset: {path: data.jsonl}\nreplay: replies.jsonl\n"

TEST = """
import pytest
import sys

@pytest.mark.llmeval("task.yaml")
def test_echo(sample):
    rewritten = {
        name
        for name, module in sys.modules.items()
        if "Rewriting" in type(getattr(module, "__loader__", None)).__name__
    }
    print("rewritten:", *sorted(rewritten))
"""


@pytest.fixture
def _project(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", task=TASK)
    pytester.path.joinpath("data.jsonl").write_text('{"id": "1", "input": "a", "target": "a"}\n')
    pytester.path.joinpath("replies.jsonl").write_text("")
    pytester.makeconftest("")
    pytester.makepyfile(TEST)


@pytest.mark.usefixtures("_project")
def test_what_a_session_of_ours_needs_is_not_rewritten(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("-p", "pytest_llmeval.plugin", "-s", "-p", "no:xdist")
    result.assert_outcomes(passed=1)
    line = next(line for line in result.outlines if "rewritten:" in line)
    names = line.partition("rewritten:")[2].split()
    assert "conftest" in names
    # The few modules that every session loads come before it is known that a test is ours.
    assert "pytest_llmeval.plugin.process" not in names
    of_a_run = tuple(f"pytest_llmeval.{name}" for name in ("engine", "records", "results", "task"))
    assert [name for name in names if name.startswith(of_a_run)] == []


@pytest.mark.usefixtures("_project")
def test_after_a_session_imports_are_as_before(pytester: pytest.Pytester) -> None:
    before = list(sys.meta_path)
    pytester.inline_run("-p", "pytest_llmeval.plugin", "-p", "no:xdist")
    assert sys.meta_path == before
