"""A distribution that is not ours brings a thing of each kind, and a task names them in YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from servers.installing import install

if TYPE_CHECKING:
    from plugin.conftest import Project

MODULE = '''
from dataclasses import dataclass

from pytest_llmeval import Completion, Reply, Score


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """Share of the target's characters that the answer has, in percent."""

    minimum: float = 100.0
    name = "likeness"
    grader = "likeness/3"
    scale = 100.0

    def check(self, target):
        if not target.strip():
            raise ValueError("is empty")

    def score(self, answer, sample, prepared):
        found = sum(sign in (answer or "") for sign in sample.target)
        value = 100.0 * found / len(sample.target)
        return Score(
            name=self.name, value=value, scale=self.scale, correct=value >= self.minimum,
            explanation=f"{found} of {len(sample.target)}", grader=self.grader,
        )


@dataclass(frozen=True, kw_only=True)
class Again:
    """Asks several times and keeps the last reply."""

    times: int = 2

    async def __call__(self, sample, context):
        for draw in range(self.times):
            reply = await context.generate(context.prompt(), draw=draw)
        return Completion(text=reply.text, stop_reason=reply.stop_reason)


class Parrot:
    """Says the sum, and swears at 5."""

    async def send(self, request):
        first, second = request.messages[-1].text.removeprefix("Q: what is ").split("+")
        total = int(first) + int(second)
        return Reply(text=f"squawk {'!#*' if total == 6 else total}!")

    async def close(self):
        pass


def open_parrot(setup):
    return Parrot()


def before_the_cry(text):
    return text.removeprefix("squawk ").partition("!")[0] or None


def longest(rows, floor: int = 0):
    return float(max([floor, *(len(row.answer or "") for row in rows)]))
'''
NAMES = {
    "scorers": "likeness = llmeval_zoo:Likeness",
    "solvers": "again = llmeval_zoo:Again",
    "providers": "parrot = llmeval_zoo:open_parrot",
    "answers": "before_the_cry = llmeval_zoo:before_the_cry",
    "metrics": "longest = llmeval_zoo:longest",
}
TASK = """
name: sums
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer, tags: [kind]}}
prompt: "Q: {{ input }}"
solver: {again: {times: 3}}
answer: before_the_cry
scorer: {likeness: {minimum: 50}}
metrics: [accuracy, longest]
"""
TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
def test_sums(sample, completion):
    assert_correct(sample, completion)
"""
RUN = ["--llmeval-model", "parrot/grey"]
MODES = pytest.mark.parametrize("mode", ["-n0", "-n2"])


@pytest.fixture
def zoo(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return the project with a task that is made of the stranger's things alone."""
    install(project.path / "site", "zoo", "2.0", MODULE, NAMES)
    monkeypatch.setenv("PYTHONPATH", str(project.path / "site"))
    project.write("task.yaml", TASK)
    project.write("test_sums.py", TEST)
    return project


@MODES
def test_a_task_is_made_of_them_by_yaml_alone(zoo: Project, mode: str) -> None:
    result = zoo.run(*RUN, mode)
    result.assert_outcomes(passed=11, failed=1)
    rows = zoo.rows()
    assert {row["sample"] for row in rows if row["outcome"] == "incorrect"} == {"5"}
    assert {row["model"] for row in rows} == {"parrot/grey"}
    eleven = next(row for row in rows if row["sample"] == "10")
    assert eleven["answer"] == "11"
    [score] = eleven["scores"]
    assert (score["name"], score["value"], score["scale"]) == ("likeness", 100.0, 100.0)
    assert eleven["versions"]["grader:likeness"] == "likeness/3 minimum=50"
    wrong = next(row for row in rows if row["sample"] == "5")
    assert (wrong["answer"], wrong["scores"][0]["explanation"]) == (None, "0 of 1")
    assert len(zoo.transcripts()[0]["events"]) == 3
    # The table shows the column of the score.
    result.stdout.re_match_lines([r".*\blikeness\b.*"])


@MODES
def test_their_metric_is_worked_out_over_the_rows(zoo: Project, mode: str) -> None:
    zoo.run(*RUN, mode)
    found = {one["name"]: one for one in zoo.summary()["entries"][0]["tally"]["metrics"]}
    assert found["longest"]["value"] == 2.0
    assert found["accuracy"]["value"] == pytest.approx(11 / 12)


WRONG = {
    "scorer": ("minimum: 50", "minimum: half", "scorer.likeness.minimum: is 'half'*"),
    "solver": ("times: 3", "tries: 3", "solver.again.tries: is not an option here*times*"),
    "name of a scorer": ("likeness", "likenes", "scorer*: is 'likenes'; did you mean 'likeness'?*"),
    "name of an answer rule": ("before_the_cry", "cry", "answer: is 'cry'*before_the_cry*"),
}


@pytest.mark.parametrize(("right", "wrong", "told"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_option_is_one_error_with_file_line_and_key(
    zoo: Project, right: str, wrong: str, told: str
) -> None:
    zoo.write("task.yaml", TASK.replace(right, wrong))
    line = next(n for n, text in enumerate(TASK.splitlines(), 1) if right in text)
    result = zoo.run(*RUN)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*task.yaml:{line}: {told}"])
    result.assert_outcomes(errors=1)
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ("{longest: {flor: 1}}", "metrics.1.longest.flor: is not an option here*floor*"),
        ("{longest: {floor: low}}", "metrics.1.longest.floor: is 'low'*"),
        ("longst", "metrics.1: is 'longst'; did you mean 'longest'?*"),
    ],
)
def test_a_wrong_metric_is_an_error_of_the_run_before_anything_is_asked(
    zoo: Project, metrics: str, told: str
) -> None:
    zoo.write("task.yaml", TASK.replace("[accuracy, longest]", f"[accuracy, {metrics}]"))
    result = zoo.run(*RUN)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*task.yaml:{len(TASK.splitlines())}: {told}"])


def test_a_target_that_their_scorer_cannot_read_is_told_at_collection(zoo: Project) -> None:
    data = (zoo.path / "data.jsonl").read_text()
    zoo.write("data.jsonl", data.replace('"answer": "3"', '"answer": " "'))
    result = zoo.run(*RUN)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*data.jsonl:3*answer*is empty*"])
