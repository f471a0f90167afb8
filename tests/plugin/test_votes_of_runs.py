"""maj@k of whole runs: formulas of equal value are one vote, also when rows are read again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

TASK = r"""
name: formulas
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer, tags: [kind]}}
prompt: "{{ input }}"
answer: boxed_last
scorer: eed
metrics: [{maj_at: [1, 5]}]
group_by: [kind]
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
def test_formulas(sample, completion):
    assert_correct(sample, completion)
"""

# Right three times, each time written in another way; wrong twice in the same words.
MODEL = r"""
RIGHT = (r"\frac{1}{2} m v^2", r"m v^{2} / 2", r"E = 0.5\, m \cdot v^2")

def reply(request):
    if request.epoch <= 3 and "energy" in request.messages[-1].text:
        return r"\boxed{%s}" % RIGHT[request.epoch - 1]
    return r"\boxed{m v^2}" if request.epoch < 6 else "I do not know."
"""

SAMPLES = (
    {"id": "1", "question": "energy?", "answer": r"\frac{m v^2}{2}", "kind": "mechanics"},
    {"id": "2", "question": "heat?", "answer": r"C T", "kind": "heat"},
)
SCRIPTED = ("--llmeval-model", "python/./model.py:reply", "--llmeval-epochs", "5")


@pytest.fixture
def formulas(project: Project) -> Project:
    """Return a project of two formulas in five epochs."""
    (project.path / "test_sums.py").unlink()
    for name, text in (("task.yaml", TASK), ("test_formulas.py", TEST), ("model.py", MODEL)):
        project.write(name, text)
    project.write_lines("data.jsonl", SAMPLES)
    return project


def votes(run: Path) -> dict[str, float | None]:
    """Return the values of maj@k in a run's summary."""
    [entry] = json.loads((run / "summary.json").read_text())["entries"]
    return {one["name"]: one["value"] for one in entry["tally"]["metrics"]}


def llmeval(project: Project, *arguments: str) -> str:
    """Return what the command line says in the project's folder."""
    command = [sys.executable, "-m", "pytest_llmeval", *arguments]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def test_the_most_frequent_value_decides_in_the_run_and_in_its_stored_rows(
    formulas: Project,
) -> None:
    result = formulas.run(*SCRIPTED, "-n2")
    result.assert_outcomes(passed=3, failed=7)
    run = (formulas.path / "reports" / "latest").resolve()
    # Of the first sample 3 of 5 votes are right, of the other none.
    assert votes(run) == {"maj@1": 0.3, "maj@5": 0.5}
    [entry] = formulas.summary()["entries"]
    groups = {one["value"]: one["tally"]["metrics"][1]["value"] for one in entry["groups"]}
    assert groups == {"mechanics": 1.0, "heat": 0.0}
    result.stdout.fnmatch_lines(["*maj@5*"])

    assert "maj@5" in llmeval(formulas, "report", str(run))
    before = votes(run)
    # A run that was killed has no summary: the rows hold what the votes need.
    (run / "summary.json").unlink()
    llmeval(formulas, "report", str(run))
    assert votes(run) == before


def test_another_scorer_counts_the_stored_answers_by_its_own_equality(
    formulas: Project,
) -> None:
    formulas.run(*SCRIPTED, "-p", "no:xdist", "-k", "mechanics")
    run = (formulas.path / "reports" / "latest").resolve()
    assert votes(run)["maj@5"] == 1.0
    llmeval(formulas, "rescore", str(run), "--scorer", "exact")
    [again] = [one for one in (formulas.path / "reports").glob("*-*") if one.name != run.name]
    # By text the three right answers are three different ones, and `exact` finds them all wrong.
    assert votes(again)["maj@5"] == 0.0
    rows = [json.loads(line) for line in (again / "rows.jsonl").read_text().splitlines()]
    assert {row["outcome"] for row in rows} == {"incorrect"}


def test_votes_of_shards_are_counted_together_when_they_are_merged(
    formulas: Project,
) -> None:
    option = "formulas.scorer.eed.mode=corrected"
    shards = []
    for shard in ("1/2", "2/2"):
        formulas.run(*SCRIPTED, "-p", "no:xdist", "--llmeval-shard", shard, "--llmeval-set", option)
        latest = (formulas.path / "reports" / "latest").resolve()
        shards.append(shutil.move(latest, formulas.path / f"shard{shard[0]}"))
    llmeval(formulas, "merge", *map(str, shards))
    assert votes(formulas.path / "reports" / "latest") == {"maj@1": 0.3, "maj@5": 0.5}
