"""The page docs/writing-a-task.md: its files are taken from it and run."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from example_rows import row
from scripted_context import ScriptedContext, solved

from pytest_llmeval.engine.own_code import answer_rule_of, roles_of, solver_of
from pytest_llmeval.records import Reply, Row
from pytest_llmeval.results.declared_metrics import check_metrics, declared_metrics
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.samples import read_samples

pytestmark = pytest.mark.usefixtures("quick_sessions")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "writing-a-task.md").read_text()
MODEL = "python/./capitals/model.py:reply"


@pytest.fixture
def page_files(tmp_path: Path) -> Path:
    """Return a folder that holds every file of the page."""
    for name, text in re.findall(r"```\w+\n# (\S+/\S+)\n(.*?)```", PAGE, re.DOTALL):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    """Run pytest in `folder` as the page says; return what it printed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "pytest_llmeval.plugin",
        "-p",
        "no:cacheprovider",
        *arguments,
    ]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LLMEVAL_")
    }
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_first_task_runs_as_the_page_says(page_files: Path) -> None:
    output = run(
        page_files,
        "capitals",
        "--llmeval-model",
        MODEL,
        "-rA",
        "--llmeval-keep",
        "capitals/replies.jsonl",
    )
    assert "1 failed, 2 passed" in output
    assert "FAILED capitals/test_capitals.py::test_capitals[0002]" in output

    task = page_files / "capitals" / "capitals.yaml"
    task.write_text(f"{task.read_text()}replay: replies.jsonl\n")
    output = run(page_files, "capitals", "-k", "europe")
    assert "2 passed, 1 deselected" in output
    assert "recorded" in output


def test_the_pages_other_tasks_load(page_files: Path) -> None:
    folder = page_files / "capitals"
    assert len(read_samples(load_task(folder / "dataset_keys.yaml"))) == 3
    task = load_task(folder / "prompt_keys.yaml")
    solver_of(task)
    messages = render(task, "generate", read_samples(task)[0], (), {})
    assert messages[1].text == "What is the capital of France? (It lies in Europe.)"


def test_the_pages_tutored_solver_asks_its_role(page_files: Path) -> None:
    task = load_task(page_files / "capitals" / "tutored.yaml")
    assert roles_of(task) == tuple(task.roles) == ("tutor",)
    context = ScriptedContext("Oslo", "Really?", "Oslo.")
    assert solved(solver_of(task), context).text == "Oslo."
    assert [asked.role for asked in context.asked] == ["solver", "tutor", "solver"]


def test_the_pages_conversations_are_talked_as_it_says(page_files: Path) -> None:
    task = load_task(page_files / "capitals" / "conversation.yaml")
    first, second = read_samples(task)
    context = ScriptedContext("Paris", "Rome")
    asyncio.run(solver_of(task)(first, context))
    assert [one.text for one in context.asked[1].messages[1:]] == [
        *["What is the capital of France?", "Paris", "And of Italy?"],
    ]
    context = ScriptedContext("Oslo")
    asyncio.run(solver_of(task)(second, context))
    assert [one.role for one in context.asked[0].messages[1:]] == ["user", "assistant", "user"]
    simulated = load_task(page_files / "capitals" / "simulated.yaml")
    assert roles_of(simulated) == ("user",)
    context = ScriptedContext("What is the capital of France?", Reply(text="Paris"), "DONE")
    assert solved(solver_of(simulated), context).text == "Paris"


def test_the_pages_agent_has_its_tool(page_files: Path) -> None:
    task = load_task(page_files / "capitals" / "agent.yaml")
    (tool,) = task.named_solver.tools
    assert list(tool.parameters["properties"]) == ["city", "unit"]
    text = load_task(task.file, {"solver.agent.calls": "text"})
    variables = text.named_solver.variables()
    told = render(text, "generate", read_samples(text)[0], (), variables)[0].text
    assert 'population(city: text, unit: "people" | "millions" = "people")' in told


def test_the_pages_scorers_decide_as_it_says(page_files: Path) -> None:
    task = load_task(page_files / "capitals" / "two_scorers.yaml")
    sample = read_samples(task)[0]
    scored = {
        one.scorer.name: (one.decides, one.scorer.score("paris", sample, None).correct)
        for one in task.scorers
    }
    assert scored == {"SLDP": (True, True), "SLDP strict": (False, False), "short": (False, True)}


def test_the_pages_metrics_are_found(page_files: Path) -> None:
    task = load_task(page_files / "capitals" / "metrics_keys.yaml")
    check_metrics(task.metrics, task.folder, scores=["SLDP"], shares=["valid_sldp"])
    longest = declared_metrics(task.metrics, task.folder)[-1]
    assert longest.function is not None
    assert longest.function([row(answer="a b")], **longest.options) == 2


def test_the_pages_rule_finds_a_letter(page_files: Path) -> None:
    task = load_task(page_files / "capitals" / "capitals.yaml", {"answer": "./rules.py:letter"})
    assert answer_rule_of(task)("It is B") == "B"


def test_the_pages_overrides_hold_for_one_run(page_files: Path) -> None:
    (command,) = re.findall(r'--llmeval-set "(capitals\.scorer\+=.*)"', PAGE)
    chosen = ("capitals", "--llmeval-model", MODEL)
    output = run(page_files, *chosen, "--llmeval-set", command, "--llmeval-report", "reports")
    assert "1 failed, 2 passed" in output
    (file,) = (page_files / "reports").glob("2*/rows.jsonl")
    rows = [Row.from_json(json.loads(line)) for line in file.read_text().splitlines()]
    scores = {row.sample: row.scores[-1] for row in rows}
    # Paris, Kyoto and <Rome, Oslo>: none has four characters or fewer.
    assert [scores[key].correct for key in "123"] == [False, False, False]
    assert {(one.name, one.grader, one.decides) for one in scores.values()} == {
        ("short", "./scorers.py:short most=4", False)
    }
    wrong = run(page_files, *chosen, "--llmeval-set", f"{command}x")
    assert f"--llmeval-set {command}x: " in wrong


def test_the_page_explains_every_key_and_no_other() -> None:
    keys = re.findall(
        r"^\| `(\w+)` \|",
        PAGE.partition("## The keys")[2].partition("### Dataset")[0],
        re.MULTILINE,
    )
    assert sorted(keys) == sorted((*Task.model_fields, *Task.other_keys))
