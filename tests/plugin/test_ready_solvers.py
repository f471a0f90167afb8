"""A solver's `get_ready`: called once, when a sample of its task will run, beside the requests."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

pytestmark = pytest.mark.usefixtures("quick_sessions")

TASK = """
name: {name}
dataset: {{path: data.jsonl, fields: {{id: id, input: question, target: answer}}}}
prompt: "{{{{ input }}}}"
solver: ./solver.py:{name}
scorer: exact
"""
SOLVER = """
import asyncio, pathlib
from pytest_llmeval import Reply

HERE = pathlib.Path(__file__).parent

def log(line):
    with (HERE / "log.txt").open("a") as file:
        file.write(line + "\\n")

async def oven():
    log("oven starts")
    await asyncio.sleep(0.2)
    log("oven is hot")
    return object()

async def slow(sample, context):
    await context.generate(context.prompt())
    await context.shared("oven", oven)
    log("solved")
    return sample.target

async def get_ready(context):
    log(f"slow gets ready")
    await context.shared("oven", oven)

slow.get_ready = get_ready

async def plain(sample, context):
    return sample.target

async def broken(sample, context):
    return sample.target

async def fail(context):
    raise ValueError("no oven")

broken.get_ready = fail

def reply(request):
    log("asked")
    return "x"
"""
TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("plain.yaml")
def test_plain(sample, completion):
    assert_correct(sample, completion)

@pytest.mark.llmeval("slow.yaml")
def test_slow(sample, completion):
    assert_correct(sample, completion)
"""
MODEL = ("--llmeval-model", "python/./solver.py:reply")


@pytest.fixture
def kitchen(project: Project) -> Project:
    for name in ("plain", "slow", "broken"):
        project.write(f"{name}.yaml", TASK.format(name=name))
    project.write("solver.py", SOLVER)
    project.write("test_kitchen.py", TEST)
    numbers = map(str, range(4))
    project.write_lines(
        "data.jsonl", ({"id": n, "question": f"{n}?", "answer": n} for n in numbers)
    )
    return project


def log_of(project: Project) -> list[str]:
    file = project.path / "log.txt"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_it_is_called_once_before_any_sample_needs_it(kitchen: Project, mode: str) -> None:
    kitchen.run("test_kitchen.py", *MODEL, mode).assert_outcomes(passed=8)
    log = log_of(kitchen)
    assert log.count("slow gets ready") == log.count("oven starts") == 1
    assert log.index("slow gets ready") < log.index("solved")
    assert log.count("solved") == 4


def test_requests_do_not_wait_for_it(kitchen: Project) -> None:
    kitchen.run("test_kitchen.py", *MODEL, "-n0").assert_outcomes(passed=8)
    log = log_of(kitchen)
    assert log.index("asked") < log.index("oven is hot") < log.index("solved")


@pytest.mark.parametrize(
    "arguments", [("-k", "plain"), ("--collect-only",), ("--llmeval-estimate", "-k", "slow")]
)
def test_it_is_not_called_where_no_sample_of_the_task_runs(
    kitchen: Project, arguments: tuple[str, ...]
) -> None:
    kitchen.run("test_kitchen.py", *MODEL, *arguments)
    assert log_of(kitchen) == []


def test_stored_answers_that_are_scored_again_need_nothing_ready(kitchen: Project) -> None:
    kitchen.run("test_kitchen.py", *MODEL).assert_outcomes(passed=8)
    (kitchen.path / "log.txt").unlink()
    command = [sys.executable, "-m", "pytest_llmeval", "rescore", "latest"]
    subprocess.run(command, cwd=kitchen.path, check=True, capture_output=True)
    assert log_of(kitchen) == []


def test_the_samples_run_after_a_mistake_in_it(kitchen: Project) -> None:
    kitchen.write("test_kitchen.py", TEST.replace("slow.yaml", "broken.yaml"))
    kitchen.run("test_kitchen.py", *MODEL).assert_outcomes(passed=8)
