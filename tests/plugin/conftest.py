"""A small project with a task of its own, and runs of pytest over it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TASK = """
name: sums
dataset:
  path: data.jsonl
  fields: {id: id, input: question, target: answer, tags: [kind]}
prompt:
  - user: "Q: {{ input }}"
generate: {temperature: 0}
answer: last_line
scorer: {sldp: {tolerance: 0.01}}
group_by: [kind]
"""

TEST = """
import pytest
from pytest_llmeval import assert_sldp_equal

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    assert_sldp_equal(completion.answer, sample.target)
"""

# Wrong for multiples of 5, broken for 7; each call leaves a line, so that tests can count them.
MODEL = """
import os, re
from pytest_llmeval import Reply

def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    with open(os.path.join(os.path.dirname(__file__), "calls.txt"), "a") as calls:
        calls.write(f"{number}\\n")
    if number == 7:
        raise RuntimeError("the model is out")
    return f"Let me think.\\n{number if number % 5 == 0 else number + 1}"
"""

SCRIPTED = ("--llmeval-model", "python/./model.py:reply")
SERIAL, NO_XDIST, ZERO, TWO = ("-p", "xdist"), ("-p", "no:xdist"), ("-n0",), ("-n2",)


@dataclass(frozen=True)
class Project:
    """The project's folder and how pytest runs over it, in a process of its own as users run it."""

    pytester: pytest.Pytester

    @property
    def path(self) -> Path:
        return self.pytester.path

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest with the plugin, as installed or not."""
        return self.pytester.runpytest_subprocess(
            "-p", "pytest_llmeval.plugin", "-p", "no:randomly", *arguments
        )

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def write_lines(self, name: str, lines: Iterable[Mapping[str, Any]]) -> Path:
        """Write a file of JSON lines."""
        return self.write(name, "".join(json.dumps(line) + "\n" for line in lines))

    def calls(self) -> list[int]:
        """Return the questions that the scripted model was asked since the last call of this."""
        file = self.path / "calls.txt"
        numbers = [int(line) for line in file.read_text().split()] if file.exists() else []
        file.unlink(missing_ok=True)
        return sorted(numbers)

    def rows(self) -> list[dict[str, Any]]:
        """Return the last run's rows, the last one of each key, in the order of samples."""
        lines = (
            (self.path / "reports" / "latest" / "rows.jsonl")
            .read_text(encoding="utf-8")
            .splitlines()
        )
        rows = {(r["test"], r["sample"], r["model"], r["epoch"]): r for r in map(json.loads, lines)}
        return sorted(
            rows.values(), key=lambda row: (int(row["sample"]), row["model"], row["epoch"])
        )

    def outcomes(self) -> dict[str, str]:
        """Return the last run's outcomes by sample id."""
        return {row["sample"]: row["outcome"] for row in self.rows()}

    def transcripts(self) -> list[dict[str, Any]]:
        """Return the last run's transcripts, in the order of samples and epochs."""
        lines = (
            (self.path / "reports" / "latest" / "transcripts.jsonl")
            .read_text(encoding="utf-8")
            .splitlines()
        )
        return sorted(
            map(json.loads, lines),
            key=lambda line: (int(line["sample"]), line["model"], line["epoch"]),
        )

    def summary(self) -> dict[str, Any]:
        """Return the last run's summary."""
        return json.loads(
            (self.path / "reports" / "latest" / "summary.json").read_text(encoding="utf-8")
        )


@pytest.fixture
def project(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    quick_sessions: None,  # noqa: ARG001 - for what it does
) -> Project:
    """Return a project of twelve sums; the model gets 0, 5 and 10 wrong and fails at 7."""
    monkeypatch.delenv(
        "GITHUB_STEP_SUMMARY", raising=False
    )  # a job that runs these tests has a summary of its own
    project = Project(pytester)
    project.write("pytest.ini", "[pytest]\nfilterwarnings = error\nllmeval_report = reports\n")
    project.write("task.yaml", TASK)
    project.write("test_sums.py", TEST)
    project.write("model.py", MODEL)
    lines = (
        {"id": n, "question": f"what is {n}+1", "answer": str(n + 1), "kind": _kind(n)}
        for n in range(12)
    )
    project.write_lines("data.jsonl", lines)
    return project


def _kind(number: int) -> str:
    return "even" if number % 2 == 0 else "odd"
