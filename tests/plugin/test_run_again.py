"""The command of a sample's page, typed into a shell: it runs that sample alone, as in the run."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

from pytest_llmeval.report.again import again
from pytest_llmeval.results.stored_run import read_run

if TYPE_CHECKING:
    from plugin.conftest import Project

TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.parametrize("style", ["c[d]-::e a", "it's \\"$HOME\\" `id`; #"])
@pytest.mark.llmeval("task.yaml")
def test_sums(sample, completion, style):
    assert_correct(sample, completion)
"""

TASK = """
name: sums
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer}}
prompt: "{{ input }}"
answer: last_line
scorer: exact
variants:
  terse: {generate: {max_tokens: 9}}
  long: {generate: {max_tokens: 100}}
"""

MODEL = """
from pytest_llmeval import Reply

def one(request):
    return str(request.parameters["seed"])

def other(request):
    return "2"
"""

FOLDER = "it's $HOME & co"


def test_the_command_of_a_row_runs_that_row_alone(project: Project) -> None:
    project.write(f"{FOLDER}/test_sums.py", TEST)
    project.write(f"{FOLDER}/task.yaml", TASK)
    project.write("model.py", MODEL)
    ids = ["a b", "a-b", "a $b", '"[c]"', "d'"]
    project.write_lines(
        f"{FOLDER}/data.jsonl", ({"id": one, "question": one, "answer": "2"} for one in ids)
    )
    project.run(
        FOLDER, "--llmeval-model", "python/./model.py:one", "--llmeval-model",
        "python/./model.py:other", "--llmeval-epochs", "2", "--llmeval-seed", "5",
        "--llmeval-limit", "2,seed=1", "-n0",
    )  # fmt: skip
    run = read_run(project.path / "reports" / "latest")
    assert len(run.rows) == 2 * 2 * 2 * 2 * 2
    row = max(run.rows, key=lambda row: ("HOME" in row.test, row.sample, row.model, row.epoch))
    settings: Any = run.info["settings"]
    words = again(row, settings).removeprefix("pytest ")
    python = shlex.join([sys.executable, "-m", "pytest", "-p", "pytest_llmeval.plugin"])
    project.pytester.run("sh", "-c", f"{python} {words}")
    (again_row,) = read_run(project.path / "reports" / "latest").rows
    assert (again_row.key, again_row.answer) == (row.key, row.answer)
    assert json.loads(json.dumps(again_row.versions)) == json.loads(json.dumps(row.versions))
