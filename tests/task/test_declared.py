"""The scorers of a task, made from their names: which there are, and which decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import ScorerError, TaskError
from pytest_llmeval.records import Sample, Score
from pytest_llmeval.scoring.function import FunctionScorer
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.catalog import Catalog

TASK = "name: demo\ndataset: {path: rows.jsonl}\nprompt: '{{ input }}'\n"
SAMPLE = Sample(id="1", input="?", target="Paris", metadata={"hint": "p"})
ASIDE = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Aside:
    name: str = "aside"
    grader, scale, models, only_incorrect = "aside/1", 1.0, (), True
    def check(self, target): ...
    async def prepare(self, sample, completion, context): ...
    def score(self, answer, sample, prepared): ...
"""


def task_with(folder: Path, more: str, code: str = "") -> Task:
    (folder / "mine.py").write_text(code)
    (folder / "task.yaml").write_text(TASK + more)
    return load_task(folder / "task.yaml")


def declared(folder: Path, more: str, code: str = "") -> dict[str, bool]:
    """Return the names of a task's scores, and which decide."""
    return {one.scorer.name: one.decides for one in task_with(folder, more, code).scorers}


def refusal_of(folder: Path, more: str, code: str = "") -> str:
    """Return what a task is refused with, behind the file's name and line."""
    with pytest.raises(TaskError) as refused:
        task_with(folder, more, code)
    told = str(refused.value)
    assert told.startswith(f"{folder / 'task.yaml'}:")
    return told.partition(".yaml:")[2]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", {}),
        ("scorer: exact\n", {"exact": True}),
        ("scorer: [exact, number, judge]\n", {"exact": True, "number": False, "judge": False}),
        ("scorer: [exact, number]\ndecides: first\n", {"exact": True, "number": False}),
        ("scorer: [exact, number]\ndecides: all\n", {"exact": True, "number": True}),
        ("scorer: [exact, number]\ndecides: any\n", {"exact": True, "number": True}),
        ("scorer: [exact, number]\ndecides: number\n", {"exact": False, "number": True}),
        ("scorer: [exact, number]\ndecides: [number]\n", {"exact": False, "number": True}),
        (
            "scorer: [exact, number, judge]\ndecides: [judge, exact]\n",
            {"exact": True, "number": False, "judge": True},
        ),
        (
            "scorer: [exact, {exact: {name: loose, ignore_case: true}}]\ndecides: loose\n",
            {"exact": False, "loose": True},
        ),
        # A scorer of incorrect answers needs the decision of others.
        ("scorer: [./mine.py:Aside, exact]\n", {"aside": False, "exact": True}),
        ("scorer: [./mine.py:Aside, exact]\ndecides: all\n", {"aside": False, "exact": True}),
        ("scorer: [./mine.py:Aside, exact]\ndecides: any\n", {"aside": False, "exact": True}),
    ],
)
def test_the_first_scorer_decides_unless_the_task_says_otherwise(
    tmp_path: Path, more: str, expected: dict[str, bool]
) -> None:
    assert declared(tmp_path, more, ASIDE) == expected


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            "scorer: [exact, number]\ndecides: nubmer\n",
            "5: decides: is 'nubmer' (allowed: first, all, any, exact, number)",
        ),
        (
            "scorer: [exact, number]\ndecides: [exact, all]\n",
            "5: decides: is 'all' (allowed: first, all, any, exact, number)",
        ),
        (
            "scorer: [./mine.py:Aside, exact]\ndecides: aside\n",
            "5: decides: is 'aside' (allowed: first, all, any, exact)",
        ),
        (
            "scorer: [eed]\ndecides: eed\n",
            "5: decides: is 'eed' (allowed: first, all, any, EED)",
        ),
        ("decides: exact\n", "4: decides: is 'exact' (allowed: first, all, any)"),
        (
            "scorer: [exact, number]\ndecides: []\n",
            "5: decides: is empty; name what decides: first, all, any, or names of scores",
        ),
    ],
    ids=[
        "misspelt",
        "all in a list",
        "only incorrect answers",
        "no score's name",
        "no scorer",
        "nothing",
    ],
)
def test_a_decision_by_an_unknown_score_is_refused_with_the_allowed_ones(
    tmp_path: Path, more: str, told: str
) -> None:
    assert refusal_of(tmp_path, more, ASIDE) == told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            "scorer: [exact, exact]\n",
            "4: scorer.1: is a second scorer called 'exact'; give it another `name`",
        ),
        (
            "scorer:\n  - exact\n  - number\n  - {regex: {name: number}}\n",
            "7: scorer.2: is a second scorer called 'number'; give it another `name`",
        ),
    ],
)
def test_two_scorers_of_one_name_are_refused_at_the_second(
    tmp_path: Path, more: str, told: str
) -> None:
    assert refusal_of(tmp_path, more) == told


FUNCTION = """
from pytest_llmeval import Score

def mine(answer, sample, *, strict: bool = False, hint: str = ""):
    return answer == (sample.target if strict else sample.target.lower())

def half(answer, sample):
    return 0.5

def whole(answer, sample):
    return 1

def own(answer, sample):
    return Score(name="own", value=80.0, scale=100.0, correct=None, explanation="why")

def text(answer, sample):
    return "yes"

def nothing(answer, sample): ...

def breaks(answer, sample):
    return {}["missing"]

def one(answer): ...

def three(answer, sample, more): ...

async def later(answer, sample):
    return True

def made(*, size: int = 1):
    return lambda: size

class Half:
    name, scale = "half", 1.0
    def check(self, target): ...

NUMBER = 5
"""


def function_scorer(folder: Path, scorer: str) -> FunctionScorer:
    (found,) = task_with(folder, f"scorer: {scorer}\n", FUNCTION).scorers
    assert isinstance(found.scorer, FunctionScorer)
    return found.scorer


def test_a_function_of_answer_and_sample_is_a_scorer(tmp_path: Path) -> None:
    scorer = function_scorer(tmp_path, "./mine.py:mine")
    assert (scorer.name, scorer.grader, scorer.scale) == ("mine", "./mine.py:mine", 1.0)
    assert scorer.score("paris", SAMPLE) == Score(
        name="mine", value=1.0, correct=True, grader="./mine.py:mine"
    )
    assert scorer.score("Paris", SAMPLE).correct is False
    assert scorer.score(None, SAMPLE).correct is False


def test_keyword_parameters_of_the_function_are_its_options(tmp_path: Path) -> None:
    scorer = function_scorer(tmp_path, "{'./mine.py:mine': {strict: true}}")
    assert scorer.score("Paris", SAMPLE).correct is True
    assert scorer.score("paris", SAMPLE).correct is False


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("half", Score(name="half", value=0.5, correct=False, grader="./mine.py:half")),
        ("whole", Score(name="whole", value=1.0, correct=True, grader="./mine.py:whole")),
        (
            "own",
            Score(name="own", value=80.0, scale=100.0, correct=None, explanation="why"),
        ),
    ],
)
def test_a_function_returns_true_or_false_a_share_or_a_score(
    tmp_path: Path, function: str, expected: Score
) -> None:
    assert function_scorer(tmp_path, f"./mine.py:{function}").score("x", SAMPLE) == expected


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("text", r"scorer \./mine\.py:text returned a str, no bool, number or Score"),
        ("nothing", r"scorer \./mine\.py:nothing returned a NoneType"),
        ("breaks", r"scorer \./mine\.py:breaks: KeyError: 'missing'"),
    ],
)
def test_a_function_that_fails_is_an_error_of_the_scorer(
    tmp_path: Path, function: str, told: str
) -> None:
    with pytest.raises(ScorerError, match=told):
        function_scorer(tmp_path, f"./mine.py:{function}").score("x", SAMPLE)


@pytest.mark.parametrize(
    ("scorer", "told"),
    [
        (
            "{'./mine.py:mine': {strikt: true}}",
            "4: scorer../mine.py:mine.strikt: is not an option here (allowed: strict, hint)",
        ),
        (
            "{'./mine.py:mine': {strict: 1}}",
            "4: scorer../mine.py:mine.strict: is 1: input should be a valid boolean",
        ),
        (
            "[exact, {'./mine.py:mine': {strict: 1}}]",
            "4: scorer.1../mine.py:mine.strict: is 1: input should be a valid boolean",
        ),
        ("{'./mine.py:half': {a: 1}}", "4: scorer../mine.py:half.a: is not an option here (it has"),
        ("./mine.py:one", "4: scorer: ./mine.py:one must take (answer, sample)"),
        ("./mine.py:three", "4: scorer: ./mine.py:three must take (answer, sample)"),
        ("./mine.py:later", "4: scorer: ./mine.py:later is async; a scorer is a plain function"),
        (
            "./mine.py:Half",
            "4: scorer../mine.py:Half: ./mine.py:Half is not a scorer: it has no grader, score",
        ),
        (
            "./mine.py:made",
            (
                "4: scorer../mine.py:made: ./mine.py:made is not a scorer: "
                "it has no name, grader, scale, check, score"
            ),
        ),
    ],
)
def test_what_is_no_scorer_is_refused_before_anything_runs(
    tmp_path: Path, scorer: str, told: str
) -> None:
    assert refusal_of(tmp_path, f"scorer: {scorer}\n", FUNCTION).startswith(told)


@pytest.mark.parametrize(
    ("scorer", "told"),
    [
        ("./mine.py:absent", "has no 'absent', which './mine.py:absent' names"),
        ("./mine.py:NUMBER", "'NUMBER' is not a function"),
        ("./absent.py:mine", "there is no such file"),
        ("no_such_module:mine", "there is no module 'no_such_module'"),
    ],
)
def test_a_scorer_that_is_not_there_is_an_error_of_the_task(
    tmp_path: Path, scorer: str, told: str
) -> None:
    with pytest.raises(TaskError) as refused:
        task_with(tmp_path, f"scorer: {scorer}\n", FUNCTION)
    assert told in str(refused.value)


def test_a_class_gets_its_options_and_one_that_asks_models_is_prepared(tmp_path: Path) -> None:
    more = "scorer: [{judge: {votes: 3}}, {'./mine.py:Aside': {name: late}}, exact]\n"
    judge, aside, exact = task_with(tmp_path, more, ASIDE).scorers
    assert judge.scorer == judge.prepares == JudgeScorer(votes=3)
    assert (aside.scorer.name, aside.prepares) == ("late", None)
    assert exact.prepares is None
    assert [one.spec.name for one in (judge, aside, exact)] == ["judge", "./mine.py:Aside", "exact"]


CHECKED = """
class Short:
    name, grader, scale = "short", "short/1", 1.0
    def check(self, target):
        if len(target) > 3:
            raise ValueError(f"the target {target!r} is too long")
    def score(self, answer, sample, prepared): ...
"""


@pytest.mark.parametrize(
    ("scorer", "rows", "told"),
    [
        (
            "./mine.py:Short",
            (
                '{"id": 1, "input": "a", "solution": "abc"}\n'
                '{"id": 2, "input": "b", "solution": "abcd"}\n'
            ),
            "rows.jsonl:2: solution: row 2: the target 'abcd' is too long",
        ),
        (
            "[exact, number]",
            (
                '{"id": 1, "input": "a", "solution": "5 m"}\n\n'
                '{"id": 2, "input": "b", "solution": "no number"}\n'
            ),
            "rows.jsonl:3: solution: row 2: ",
        ),
        (
            "sldp",
            '{"id": 1, "input": "a", "solution": "<R1, R2"}\n',
            "rows.jsonl:1: solution: row 1: the target is no SLDP: ",
        ),
    ],
    ids=["of one's own", "the second of a list", "of the package"],
)
def test_a_target_that_cannot_be_scored_is_refused_at_collection_with_its_place(
    tmp_path: Path, scorer: str, rows: str, told: str
) -> None:
    dataset = "{path: rows.jsonl, fields: {target: solution}}"
    task_with(tmp_path, f"scorer: {scorer}\n", CHECKED)
    text = (tmp_path / "task.yaml").read_text().replace("{path: rows.jsonl}", dataset)
    (tmp_path / "task.yaml").write_text(text)
    (tmp_path / "rows.jsonl").write_text(rows)
    with pytest.raises(TaskError) as refused:
        Catalog(folder=tmp_path).load(tmp_path / "task.yaml")
    assert str(refused.value).startswith(f"{tmp_path}/{told}")


def test_every_row_is_checked_whatever_the_limit(tmp_path: Path) -> None:
    task_with(tmp_path, "scorer: ./mine.py:Short\n", CHECKED)
    rows: list[Any] = [(1, "abc"), (2, "abcd")]
    (tmp_path / "rows.jsonl").write_text(
        "".join(f'{{"id": {n}, "input": "a", "target": "{target}"}}\n' for n, target in rows)
    )
    with pytest.raises(TaskError, match="row 2: the target 'abcd' is too long"):
        Catalog(folder=tmp_path, limit=1).load(tmp_path / "task.yaml")
