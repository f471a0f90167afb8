"""Judges that fail under pytest: in workers, with -x, by a time-out, and by a killed process."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project
    from servers.fixture import ModelServer

SAMPLES = 12

# Plain for even numbers; for odd ones in words that only a judge can read.
MODEL = """
import os, re
from pytest_llmeval import Reply

def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    with open(os.path.join(os.path.dirname(__file__), "calls.txt"), "a") as calls:
        calls.write(f"{number}\\n")
    return f"as many as {number + 1}" if number % 2 else f"The answer is {number + 1}"
"""

# While the file is there, it kills its process at the first question that it gets, once no reply is
# on its way to the store any more.
JUDGE = """
import glob, os, signal, sqlite3, time

def stored():
    file = glob.glob("**/replies.sqlite3", recursive=True)[0]
    return sqlite3.connect(file).execute("SELECT count(*) FROM replies").fetchone()[0]

def deadly(request):
    if os.path.exists("deadly"):
        while stored() < len(open("calls.txt").readlines()):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
    return '{"answer_correct": 1, "reason": "the same"}'
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct, assert_judge_equivalent

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    assert_correct(sample, completion)
"""

IN_BODY = TEST.replace(
    "assert_correct(sample, completion)",
    "assert_judge_equivalent(completion.answer, sample.target)",
)

MODELS = ("--llmeval-model", "python/./model.py:reply")


@pytest.fixture
def project(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return the project with answers of which every second one needs a judge."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: {sldp: {tolerance: 0.01}}", "scorer: judge"))
    project.write("test_sums.py", TEST)
    project.write("model.py", MODEL)
    project.write("judge.py", JUDGE)
    return project


def answered(project: Project) -> list[str]:
    """Return the samples whose row has an answer; check that it has all else of its completion."""
    rows = [row for row in project.rows() if row.get("answer")]
    for row in rows:
        assert row["stop_reason"] == "stop"
        assert row["usage"]["requests"] >= 1
    return [row["sample"] for row in rows]


def judge_at(server: ModelServer, limits: str = "") -> tuple[str, str]:
    return "--llmeval-judge", f"openai/judge,base_url={server.url}{limits}"


@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_a_lost_judge_is_told_once_and_marks_only_what_needs_it(
    project: Project, model_server: ModelServer, mode: str
) -> None:
    model_server.program(lost={"judge": {"kind": "401"}})
    result = project.run(*MODELS, *judge_at(model_server), mode, "-rs")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert Counter(project.outcomes().values()) == {"correct": 6, "error": 1, "unscored": 5}
    assert len(answered(project)) == SAMPLES
    output = result.stdout.str()
    assert output.count("ERROR at") + output.count("_ test_sums") <= 1
    assert "SKIPPED [5]" in output
    assert output.count("5 unscored: ") == 1


def test_a_budget_that_ends_before_judging_is_told_by_the_exit_status_and_a_line(
    project: Project, model_server: ModelServer
) -> None:
    # Replies of the model under test are short; the judge's first request is too long.
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("temperature: 0", "temperature: 0, max_tokens: 9"))
    result = project.run(*MODELS, *judge_at(model_server), "--llmeval-budget", "600tok", "-n0")
    assert result.ret != 0
    assert model_server.report()["requests"] == 0
    rows = project.rows()
    assert {row["outcome"] for row in rows if row.get("answer")} == {"correct", "unscored"}
    assert "unscored: run stopped: limit of 600 tokens reached" in result.stdout.str()


def test_the_first_failure_ends_the_session_and_leaves_its_answer(
    project: Project, model_server: ModelServer
) -> None:
    model_server.program(lost={"judge": {"kind": "404"}})
    few = ("--llmeval-concurrency", "1")
    project.run(*MODELS, *judge_at(model_server), *few, "-x")
    found = Counter(project.outcomes().values())
    assert (found["error"], found["incorrect"]) == (1, 0)
    assert set(answered(project)) >= {
        sample for sample, outcome in project.outcomes().items() if outcome != "not run"
    }
    project.calls()
    model_server.program(says={"judge": '{"answer_correct": 1, "reason": "the same"}'})
    project.run(*MODELS, *judge_at(model_server), "--llmeval-resume").assert_outcomes(
        passed=SAMPLES
    )
    # What was solved ahead of the failure is not asked again.
    assert len(project.calls()) <= SAMPLES - 2
    assert model_server.report()["models"] == {"judge": 6}


def test_a_body_that_waits_too_long_for_a_judge_is_an_error_with_its_answer(
    project: Project, model_server: ModelServer
) -> None:
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: judge\n", ""))
    project.write("test_sums.py", IN_BODY)
    model_server.program(lost={"judge": {"kind": "stall"}})
    slow = ("--timeout", "0.5", "--timeout-method", "signal", "--llmeval-limit", "2", "-x")
    project.run(*MODELS, *judge_at(model_server), *slow)
    assert project.outcomes() == {"0": "correct", "1": "error"}
    assert answered(project) == ["0", "1"]


def test_a_process_killed_between_solving_and_judging_pays_for_no_answer_twice(
    project: Project,
) -> None:
    judge = ("--llmeval-judge", "python/./judge.py:deadly", "-p", "no:xdist")
    project.write("deadly", "")
    assert project.run(*MODELS, *judge).ret not in {0, 1}
    first = project.calls()
    assert first
    (project.path / "deadly").unlink()
    project.run(*MODELS, *judge, "--llmeval-resume").assert_outcomes(passed=SAMPLES)
    assert sorted([*first, *project.calls()]) == [*range(SAMPLES)]
