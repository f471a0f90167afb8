"""docs/cookbook/code.md: its tasks load, its row is scored, and its options are the scorer's."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from sandboxes import require
from scoring.code.programs import Surroundings, scored_all

from pytest_llmeval.sandbox.choice import present_isolations
from pytest_llmeval.scoring.code.scorer import CodeScorer
from pytest_llmeval.task.answers import code
from pytest_llmeval.task.catalog import Catalog, LoadedTask

PAGE = (Path(__file__).parents[2] / "docs/cookbook/code.md").read_text("utf-8")
SUMS = {
    "task_id": 11,
    "text": "Write a function that adds two numbers.",
    "code": "def add(a, b):\n    return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert near(add(0.1, 0.2), 0.3)"],
    "test_setup_code": "def near(a, b): return abs(a - b) < 1e-9",
}

WRONG = (
    "assert candidate([3, 5, 4]) == [2, -1]: AssertionError; "
    "the last value that the program gave: [3, 5, 4]"
)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def loaded(folder: Path, yaml: str, row: str) -> LoadedTask:
    """Return a task of the page with a dataset of one row."""
    file = folder / "task.yaml"
    file.write_text(re.sub(r"path: \S+", "path: rows.jsonl", yaml))
    (folder / "rows.jsonl").write_text(row.strip() + "\n")
    return Catalog(folder=folder).load(file)


def explanations(task: LoadedTask, *programs: str) -> list[str]:
    scorer = task.task.scorers[0].scorer
    assert isinstance(scorer, CodeScorer)
    [sample] = task.samples
    found = [(program, sample) for program in programs]
    return [one.explanation for one in scored_all(scorer, found, Surroundings())]


def test_the_tasks_of_the_page_score_programs(tmp_path: Path) -> None:
    require(next(iter(present_isolations()), "landlock"))
    functions, sums = blocks("yaml")
    [row] = blocks("json")
    task = loaded(tmp_path, functions, row)
    [sample] = task.samples
    reply = f"```python\n{sample.input}{sample.target_text}```"
    assert explanations(task, code(reply) or "", sample.target_text, "    return heights") == [
        "2 of 2 tests passed",
        "2 of 2 tests passed",
        f"0 of 2 tests passed; {WRONG}",
    ]
    task = loaded(tmp_path, sums, json.dumps(SUMS))
    assert explanations(task, task.samples[0].target_text) == ["2 of 2 tests passed"]


def test_the_page_lists_the_options_and_their_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .* \|$", PAGE, re.MULTILINE)
    listed = {name: default.strip("`") for name, default in rows}
    options = {one.name: one.default for one in dataclasses.fields(CodeScorer)}
    words = {None: "none", dataclasses.MISSING: "needed"}
    assert listed == {name: str(words.get(one, one)) for name, one in options.items()}


def test_the_test_of_the_page_is_python() -> None:
    [test] = blocks("python")
    compile(test, "test_functions.py", "exec")
    assert "assert_correct(sample, completion)" in test
