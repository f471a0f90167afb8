"""Tasks of a run that asked the same questions: where their comparison stands, and when."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

TASK = """
name: {name}
dataset: {{path: {data}, fields: {{id: id, input: question, target: answer}}}}
prompt: "{name}: {{{{ input }}}}"
generate: {{temperature: 0}}
answer: whole
scorer: exact
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("query.yaml")
def test_query(sample, completion):
    assert_correct(sample, completion)

@pytest.mark.llmeval("agent.yaml")
def test_agent(sample, completion):
    assert_correct(sample, completion)

@pytest.mark.llmeval("other.yaml")
def test_other(sample, completion):
    assert_correct(sample, completion)
"""

# The agent is right from 3 on, the query from 7 on; 5 breaks the agent.
MODEL = """
import re
from pytest_llmeval import Reply

def reply(request):
    name, number = re.search(r"(\\w+): what is (\\d+)", request.messages[-1].text).groups()
    if (name, number) == ("agent", "5"):
        raise RuntimeError("the model is out")
    return number if int(number) >= {"query": 7, "agent": 3, "other": 0}[name] else "?"
"""

SCRIPTED = ("--llmeval-model", "python/./model.py:reply")
LATEST = "reports/latest"


@pytest.fixture
def three(project: Project) -> Project:
    """Return a project of two tasks over the same ten questions, and one over another dataset."""
    (project.path / "test_sums.py").unlink()
    for name, data in (("query", "data.jsonl"), ("agent", "data.jsonl"), ("other", "other.jsonl")):
        project.write(f"{name}.yaml", TASK.format(name=name, data=data))
    project.write("test_three.py", TEST)
    project.write("model.py", MODEL)
    for file, end in (("data.jsonl", ""), ("other.jsonl", " now?")):
        numbers = map(str, range(10))
        project.write_lines(
            file, ({"id": n, "question": f"what is {n}{end}", "answer": n} for n in numbers)
        )
    return project


def summary(project: Project) -> list[dict[str, Any]]:
    """Return the pipelines in the summary of the latest run."""
    found: list[dict[str, Any]] = project.summary()["pipelines"]
    return found


def lines(project: Project) -> list[dict[str, str]]:
    """Return the lines of the latest run's pipelines.csv."""
    with (project.path / LATEST / "pipelines.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_the_table_stands_at_the_end_of_a_run_and_in_its_files(
    three: Project, mode: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = three.path / "step.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    three.write("gate.yaml", "coverage: 0.5\nrules: {other.accuracy: {min: 0.1}}\n")
    result = three.run(*SCRIPTED, *mode, "--llmeval-gate", "gate.yaml")
    # Of the nine that both scored the agent has 3 to 9 but 5, the query 7 to 9.
    title = "*pipelines · python/./model.py:reply · 9 samples that all scored*"
    result.stdout.fnmatch_lines(
        [title, "A agent *66.7 %*9 of 10*1*", "B query *33.3 %*10 of 10*0*"]
    )
    result.stdout.fnmatch_lines(["accuracy: paired differences", "B - A *-33.3*"])
    (found,) = summary(three)
    assert [one["task"] for one in found["pipelines"]] == ["agent", "query"]
    assert [one["counts"]["error"] for one in found["pipelines"]] == [1, 0]
    (difference,) = found["differences"]
    assert difference["difference"] == pytest.approx(-3 / 9)
    assert (difference["a"], difference["b"], difference["n"]) == (0, 1, 9)
    told = {line["sample"]: (line["agent"], line["query"]) for line in lines(three)}
    assert told["4"] == ("correct", "incorrect")
    assert told["5"] == ("error", "incorrect")
    assert len(told) == 10
    folder = three.path / LATEST
    assert 'id="pipelines"' in (folder / "report.html").read_text()
    for text in (step.read_text(), (folder / "summary.md").read_text()):
        assert "## pipelines · " in text
        assert "9 samples that all scored" in text


@pytest.mark.parametrize("selected", ["query", "query or other"])
def test_a_run_with_one_pipeline_has_no_such_table(three: Project, selected: str) -> None:
    result = three.run(*SCRIPTED, "-k", selected)
    result.stdout.no_fnmatch_line("*pipelines*")
    folder = three.path / LATEST
    assert summary(three) == []
    assert not (folder / "pipelines.csv").exists()
    assert 'id="pipelines"' not in (folder / "report.html").read_text()
    assert "pipelines" not in (folder / "summary.md").read_text()


def test_deselected_samples_are_no_pairs_and_stand_empty(three: Project) -> None:
    three.run(*SCRIPTED, "-k", "query or (agent and (3 or 4))")
    (found,) = summary(three)
    assert found["n"] == 2
    told = {line["sample"]: (line["agent"], line["query"]) for line in lines(three)}
    assert told["3"] == ("correct", "incorrect")
    assert told["9"] == ("", "correct")


def test_a_stored_run_is_compared_by_task(three: Project) -> None:
    three.run(*SCRIPTED)
    folder = three.path / LATEST
    before = (folder / "pipelines.csv").read_bytes(), summary(three)

    def llmeval(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest_llmeval", *arguments]
        return subprocess.run(command, cwd=three.path, capture_output=True, text=True, check=False)

    done = llmeval("compare", "latest", "--by", "task", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert "pipelines · python/./model.py:reply · 9 samples that all scored" in done.stdout
    assert "B - A" in done.stdout
    assert "B - A" in Path(three.path / "page.html").read_text()
    done = llmeval("report", "latest")
    assert "pipelines · " in done.stdout
    assert ((folder / "pipelines.csv").read_bytes(), summary(three)) == before
    llmeval("baseline", "set", "latest", "--to", "base.jsonl")
    done = llmeval("compare", "base.jsonl", "--by", "task")
    assert (done.returncode, "9 samples that all scored" in done.stdout) == (0, True)
    old = three.path / "base.jsonl"
    old.write_text(re.sub(r', "question": "\w+"', "", old.read_text()))
    done = llmeval("compare", "base.jsonl", "--by", "task")
    assert done.returncode == 2
    assert "do not tell what their samples asked" in done.stderr
    three.run(*SCRIPTED, "-k", "query")
    done = llmeval("compare", "latest", "--by", "task")
    assert "no two tasks asked a model the same samples" in done.stderr
