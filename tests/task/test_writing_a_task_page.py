"""The page docs/writing-a-task.md: its files are taken from it and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_llmeval.engine.resolve import resolve_solver
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.samples import read_samples

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
        "--llmeval-record",
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
    resolve_solver(task)
    messages = render(task, "generate", read_samples(task)[0], (), {})
    assert messages[1].text == "What is the capital of France? (It lies in Europe.)"


def test_the_page_explains_every_key_and_no_other() -> None:
    keys = re.findall(
        r"^\| `(\w+)` \|",
        PAGE.partition("## The keys")[2].partition("### Dataset")[0],
        re.MULTILINE,
    )
    assert sorted(keys) == sorted(Task.model_fields)
