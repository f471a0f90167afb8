"""The canary: its two tasks on recorded replies, and what each question demands of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks.benchmark_session import ROOT, newest_rows, run_pytest

from pytest_llmeval.task import load_task
from pytest_llmeval.task.samples import read_samples

FOLDER = ROOT / "benchmarks" / "heracles"
CANARY = "benchmarks/heracles/test_canary.py"
NUMBERS = {"harbour": 4127, "kitchen": 386, "garden": 59}

MODEL = '''
import json
import re

from pytest_llmeval.records import Reply, ToolCall

ASKS = {"boats": "harbour", "cups": "kitchen", "pear trees": "garden"}


def reply(request):
    """Answer as somebody who knows what the oracle says and nothing else."""
    question = request.messages[0].text
    wanted = [{"question": what, "place": ASKS[what]} for what in ASKS if what in question]
    told = " ".join(message.text for message in request.messages[1:] if message.role != "assistant")
    numbers = [int(text) for text in re.findall(r"^\\d{2,}$", told.replace(" ", "\\n"), re.M)]
    if len(numbers) < len(wanted):
        return calling(wanted[len(numbers)], native="tools" in request.parameters)
    answer = f"<{', '.join(map(str, numbers))}>" if len(numbers) > 1 else str(sum(numbers) or 3)
    added = sum(numbers) + 1 if "one more" in question else answer
    return f"<answer>{added}</answer>"


def calling(arguments, *, native):
    if native:
        call = ToolCall(id="1", name="ask", arguments=json.dumps(arguments))
        return Reply(text="", tool_calls=(call,), stop_reason="tool_calls")
    written = ", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
    return f"I ask. <tool>ask({written})</tool>"
'''


def rows_of(*arguments: str, reports: Path, cwd: Path = ROOT) -> dict[str, dict[str, Any]]:
    done = run_pytest(
        str(ROOT / CANARY),
        *("-q", "--rootdir", str(ROOT), f"--llmeval-report={reports}"),
        *arguments,
        cwd=cwd,
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return {f"{row['task']} {row['sample']}": row for row in newest_rows(reports)}


def told(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Return outcome, turns, calls and failed calls of each row."""
    keys = ("turns", "calls", "failed_calls")
    return {
        name: (row["outcome"], *(row["details"][key] for key in keys)) for name, row in rows.items()
    }


def test_a_model_that_calls_tools_passes_and_needs_as_many_calls_as_the_questions_say(
    tmp_path: Path,
) -> None:
    (tmp_path / "caller.py").write_text(MODEL)
    model = "--llmeval-model=python/./caller.py:reply"
    rows = told(rows_of(model, reports=tmp_path / "reports", cwd=tmp_path))
    wanted = {"C1": (1, 0, 0), "C2": (2, 1, 0), "C3": (2, 1, 0), "C4": (3, 2, 0)}
    assert rows == {
        f"{task} {sample}": ("correct", *counts)
        for task in ("canary", "canary_text")
        for sample, counts in wanted.items()
    }


def test_a_model_that_calls_no_tools_answers_only_the_question_that_needs_none(
    tmp_path: Path,
) -> None:
    (tmp_path / "guesser.py").write_text("def reply(request):\n    return '<answer>3</answer>'\n")
    model = "--llmeval-model=python/./guesser.py:reply"
    rows = told(rows_of(model, reports=tmp_path / "reports", cwd=tmp_path))
    assert {name for name, row in rows.items() if row[0] == "correct"} == {
        "canary C1",
        "canary_text C1",
    }


def test_the_recorded_replies_show_what_goes_wrong(tmp_path: Path) -> None:
    rows = told(rows_of(reports=tmp_path / "reports"))
    assert rows == {
        "canary C1": ("correct", 1, 0, 0),
        "canary C2": ("correct", 2, 1, 0),
        "canary C3": ("incorrect", 3, 2, 1),
        "canary C4": ("correct", 2, 2, 0),
        "canary_text C1": ("correct", 1, 0, 0),
        "canary_text C2": ("correct", 3, 2, 1),
        "canary_text C3": ("incorrect", 2, 1, 0),
        "canary_text C4": ("correct", 2, 2, 0),
    }


@pytest.mark.parametrize("name", ["canary", "canary_text"])
def test_the_tasks_are_the_same_but_for_how_calls_are_written(name: str) -> None:
    task = load_task(FOLDER / f"{name}.yaml")
    assert task.named_solver.calls == ("text" if name.endswith("text") else "native")
    (oracle,) = task.named_solver.tools
    assert oracle.parameters["properties"]["place"]["enum"] == list(NUMBERS)
    targets = [sample.target for sample in read_samples(task)]
    assert targets == ["3", "4127", "387", "<4127, 59>"]
    assert not any(
        str(number) in json.dumps(dict(oracle.parameters)) for number in NUMBERS.values()
    )
