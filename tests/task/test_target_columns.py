"""Targets of a dataset: absent, texts, lists, mappings; and what scorers say of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Target
from pytest_llmeval.task import load_task
from pytest_llmeval.task.samples import read_samples


def targets(
    folder: Path, rows: Sequence[Mapping[str, Any]], column: str | None, **keys: Any
) -> list[Target]:
    lines = ({"id": number, "input": "?", **row} for number, row in enumerate(rows))
    (folder / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    dataset = {"path": "rows.jsonl", "fields": {"target": column}, **keys.pop("dataset", {})}
    data = {"name": "demo", "dataset": dataset, "prompt": "{{ input }}", **keys}
    (folder / "task.yaml").write_text(yaml.safe_dump(data))
    return [sample.target for sample in read_samples(load_task(folder / "task.yaml"))]


def test_a_target_is_what_its_cell_holds(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"a": "x"}, {"a": ["x", 2, "x"]}, {"a": {"k": [1]}}, {"a": 3}]
    assert targets(tmp_path, rows, "a") == ["x", ("x", "2"), {"k": [1]}, "3"]
    assert targets(tmp_path, rows, None) == [None] * 4
    assert targets(tmp_path, [{"a": ["x", "y"]}], "a[1]") == ["y"]


@pytest.mark.parametrize("cell", [{}, {"a": None}, {"a": " "}, {"a": []}, {"a": {}}])
def test_a_marked_column_may_be_absent_or_empty(cell: dict[str, Any], tmp_path: Path) -> None:
    assert targets(tmp_path, [{"a": "x"}, cell], "a?") == ["x", None]
    kept = {"keep": "target is not none"}
    assert None not in targets(tmp_path, [{"a": "x"}, {"a": None}], "a?", dataset=kept)
    with pytest.raises(TaskError, match=r"the target is empty|there is no column 'a'"):
        targets(tmp_path, [{"a": "x"}, cell], "a")


@pytest.mark.parametrize(
    ("cell", "column", "says"),
    [
        ({}, "a?", "there is no target, and the scorer 'exact' compares with a text"),
        ({}, None, "there is no target, and the scorer 'exact' compares with a text"),
        ({"a": {"k": 1}}, "a", "the target is a mapping, and the scorer 'exact'"),
    ],
)
def test_a_target_that_cannot_be_scored_is_told_at_collection(
    cell: dict[str, Any], column: str | None, says: str, tmp_path: Path
) -> None:
    with pytest.raises(TaskError, match=says):
        targets(tmp_path, [cell], column, scorer="exact")
