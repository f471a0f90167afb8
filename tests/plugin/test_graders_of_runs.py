"""Who graded stands in every row of a run, and a swap of judges never looks like a better model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.commands.main import main

if TYPE_CHECKING:
    from plugin.conftest import Project

JUDGE = """
import os

def _told(name, verdict):
    with open(os.path.join(os.path.dirname(__file__), "judged.txt"), "a") as calls:
        calls.write(name + "\\n")
    return '{"answer_correct": %d, "reason": "%s"}' % (verdict, name)

def strict(request):
    return _told("strict", 0)

def lenient(request):
    return _told("lenient", 1)
"""

# 0 has no answer, 1 and 2 are plain, the others are in words that only a judge can read.
MODEL = """
import re

def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    if number == 0:
        return ""
    return f"The answer is {number + 1}" if number < 3 else f"as many as {number + 1}"
"""

BY_HAND = """
import pytest
from pytest_llmeval import assert_judge_equivalent

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    assert_judge_equivalent(completion.answer, sample.target, votes=3)

def test_fixture(sample, completion, judge):
    assert_judge_equivalent(completion.answer, sample.target, judge=judge)

def mine(problem, target, candidate, votes):
    from pytest_llmeval.scoring.judge import Judgement
    from pytest_llmeval.records import Verdict
    return Judgement(verdict=Verdict(correct=True, reason="mine"), explanation="mine")

def test_own(sample, completion):
    assert_judge_equivalent(completion.answer, sample.target, judge=mine)
"""

STRICT, LENIENT = (f"--llmeval-judge=python/./judge.py:{name}" for name in ("strict", "lenient"))
RUN = ("--llmeval-model", "python/./model.py:reply", "--llmeval-limit", "6")


@pytest.fixture
def project(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return the project with answers that are judged."""
    monkeypatch.chdir(project.path)
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: {sldp: {tolerance: 0.01}}", "scorer: judge"))
    test = "def test_sums(sample, completion):\n    assert_correct(sample, completion)\n"
    head = "import pytest\nfrom pytest_llmeval import assert_correct\n"
    mark = 'pytestmark = pytest.mark.llmeval("task.yaml")\n'
    project.write("test_sums.py", f"{head}{mark}{test}")
    project.write("model.py", MODEL)
    project.write("judge.py", JUDGE)
    return project


def graders(project: Project) -> dict[str, set[str]]:
    """Return the graders of the last run's rows by their test, from scores and versions."""
    found: dict[str, set[str]] = {}
    for row in project.rows():
        (score,) = row["scores"]
        assert row["versions"][f"grader:{score['name']}"] == score["grader"]
        found.setdefault(row["test"].rpartition("::")[2], set()).add(score["grader"])
    return found


def judged(project: Project) -> list[str]:
    """Return the judges that were asked since the last call of this."""
    file = project.path / "judged.txt"
    asked = file.read_text().split() if file.exists() else []
    file.unlink(missing_ok=True)
    return asked


def told_by(project: Project, capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    assert main([*command, "--report", str(project.path / "reports")]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_every_row_has_the_same_grader_whoever_decided_it_and_in_whatever_process(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for mode in ("-n0", "-n2"):
        project.run(*RUN, LENIENT, mode)
        decided = {row["scores"][0]["details"]["decided_by"] for row in project.rows()}
        assert decided == {"symbolic", "judge", "no answer"}
        assert project.rows()[0]["answer"] is None
        found.append(graders(project))
    (text,) = found[0]["test_sums"]
    assert text.endswith(" votes=1 by python/./judge.py:lenient")
    assert found[0] == found[1]
    told_by(project, capsys, "rescore", "latest")
    newest = max((project.path / "reports").glob("*Z-*"), key=lambda run: run.stat().st_mtime_ns)
    rescored = [json.loads(line) for line in (newest / "rows.jsonl").read_text().splitlines()]
    assert {row["scores"][0]["grader"] for row in rescored} == {text}


def test_a_judge_given_by_hand_is_named_as_the_run_or_the_function_names_it(
    project: Project,
) -> None:
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: judge\n", ""))
    project.write("test_sums.py", BY_HAND)
    project.run(*RUN, LENIENT, "-n2")
    found = graders(project)
    assert [len(texts) for texts in found.values()] == [1, 1, 1]
    sums, fixture, own = (found[name].pop() for name in ("test_sums", "test_fixture", "test_own"))
    assert sums.endswith("votes=3 by python/./judge.py:lenient")
    assert fixture == sums.replace("votes=3", "votes=1")
    assert own == "own judge votes=1 by test_sums:mine"
    judged(project)
    # Judges that no task declares are the same in a resumed run too.
    refused = project.run(*RUN, STRICT, "--llmeval-resume")
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*by judge/1 *by python/./judge.py:lenient; this session*"])
    assert judged(project) == []


def test_a_swap_of_judges_is_told_divided_and_passes_no_gate(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.run(*RUN, STRICT)
    before = (project.path / "reports" / "latest").resolve().name
    assert main(["baseline", "set", before, "--to", "main.jsonl"]) == 0
    gate = "rules:\n  sums.accuracy: {max_drop: 1, max_rise: 1}\n  sums.judge: {max_drop: 1}\n"
    project.write("gate.yaml", f"inconclusive: pass\n{gate}")
    options = ("--llmeval-gate", "gate.yaml", "--llmeval-baseline", "main.jsonl")
    assert project.run(*RUN, STRICT, *options).ret == 0
    result = project.run(*RUN, LENIENT, *options)
    assert result.ret == 1
    told = told_by(project, capsys, "compare", before, "latest")
    assert "GRADERS DIFFER: judge by judge/1 " in told
    assert "accuracy moved +50.0 points, which are not the model's alone" in told
    assert "+50.0 of them from 6 samples with the same answer: the graders' part (3 gained" in told
    assert "b - a" not in told
    results = project.summary()["gate"]["results"]
    verdicts = {one["metric"]: one["verdict"] for one in results}
    assert (verdicts["accuracy"], verdicts["judge"]) == ("missing", "missing")


def test_a_run_is_not_resumed_under_another_judge_and_nothing_is_asked(project: Project) -> None:
    mode = "-n2"  # the controller refuses, before a worker's first wish
    project.run(*RUN, STRICT, "-k", "0003 or 0001", mode)
    assert judged(project) == ["strict"]
    stored = (project.path / "reports/latest/rows.jsonl").read_bytes()
    result = project.run(*RUN, LENIENT, "--llmeval-resume", mode)
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*by python/./judge.py:strict; this session grades by*judge.py:lenient*--llmeval-reuse*"]
    )
    assert judged(project) == []
    assert (project.path / "reports/latest/rows.jsonl").read_bytes() == stored
    assert project.run(*RUN, STRICT, "--llmeval-resume", mode).ret == 1
    assert set(judged(project)) == {"strict"}
    assert len(graders(project)["test_sums"]) == 1


def test_a_verdict_of_a_recording_is_not_given_out_as_another_judges(project: Project) -> None:
    project.run(*RUN, STRICT, "--llmeval-keep", "replies.jsonl")
    assert set(judged(project)) == {"strict"}
    project.run(*RUN, STRICT, "--llmeval-reuse", "replies.jsonl")
    assert judged(project) == []
    project.run(*RUN, LENIENT, "--llmeval-reuse", "replies.jsonl")
    assert set(judged(project)) == {"lenient"}
    strict: dict[str, Any] = {}
    for judge in (STRICT, "--llmeval-judge=replay/replies.jsonl"):
        project.run(*RUN, judge)
        strict[judge] = graders(project)
    assert len({str(found) for found in strict.values()}) == 1
