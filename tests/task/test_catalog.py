"""The catalog loads each task once, with the run's overrides, and tells data apart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import TaskError
from pytest_llmeval.task.catalog import Catalog, LoadedTask

TASK = """
name: sums
dataset:
  path: data.jsonl
  fields: {id: id, input: question, target: answer, tags: [kind]}
prompt:
  - user: "{{ input }}"
generate: {temperature: 0.5}
group_by: [kind]
"""
ROWS = [
    {"id": n, "question": f"{n}?", "answer": str(n), "kind": "even" if n % 2 == 0 else "odd"}
    for n in range(5)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a task of five samples."""
    (tmp_path / "task.yaml").write_text(TASK)
    write(tmp_path / "data.jsonl", ROWS)
    return tmp_path / "task.yaml"


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def load(file: Path, **settings: Any) -> LoadedTask:
    return Catalog(folder=file.parent, **settings).load(file)


def test_a_task_is_loaded_once(file: Path, tmp_path: Path) -> None:
    catalog = Catalog(folder=tmp_path)
    assert catalog.loaded == {}
    first = catalog.load(file)
    file.unlink()
    assert catalog.load(file) is first
    assert list(catalog.loaded) == [file]


def test_samples_are_found_by_id(file: Path) -> None:
    loaded = load(file)
    assert list(loaded.by_id) == ["0", "1", "2", "3", "4"]
    assert loaded.by_id["3"].input == "3?"
    assert loaded.groups(loaded.by_id["3"]) == {"kind": ("odd",)}


def test_the_limit_takes_the_first_samples(file: Path) -> None:
    assert list(load(file, limit=2).by_id) == ["0", "1"]


def test_a_limit_with_a_seed_takes_random_samples_and_rows_know_it(file: Path) -> None:
    found = load(file, limit=2, seed=4)
    assert list(found.by_id) == ["1", "3"]  # fixed: other samples would not be those of old runs
    assert found.versions["subset"] == "2,seed=4"
    assert "subset" not in load(file, limit=2).versions


def test_overrides_reach_the_task_they_name_alone(file: Path) -> None:
    overrides = {"sums": {"generate.temperature": "0"}, "others": {"generate.temperature": "1"}}
    assert load(file, overrides=overrides).task.generate == {"temperature": 0}
    assert load(file, overrides={"others": {"generate.temperature": "1"}}).task.generate == {
        "temperature": 0.5
    }


def test_a_dataset_can_be_exchanged(file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere / "other.jsonl", [{**ROWS[0], "id": 77}])
    catalog = Catalog(folder=elsewhere, overrides={"sums": {"dataset.path": "other.jsonl"}})
    loaded = catalog.load(file)
    assert list(loaded.by_id) == ["77"]
    assert loaded.dataset_digest != load(file).dataset_digest


@pytest.mark.parametrize("column", ["id", "question", "answer"])
def test_the_digest_tells_other_samples_apart(file: Path, tmp_path: Path, column: str) -> None:
    before = load(file).digest
    write(tmp_path / "data.jsonl", [{**ROWS[0], column: "9"}, *ROWS[1:]])
    assert load(file).digest != before


def test_the_digest_knows_order_and_limit(file: Path, tmp_path: Path) -> None:
    before = load(file)
    assert load(file, limit=4).digest != before.digest
    write(tmp_path / "data.jsonl", ROWS[::-1])
    assert load(file).digest != before.digest


def test_the_digest_is_the_same_in_every_process_and_blind_to_layout(
    file: Path, tmp_path: Path
) -> None:
    before = load(file).digest
    (tmp_path / "data.jsonl").write_text(
        "".join(json.dumps(row, indent=None, sort_keys=True) + "\n" for row in ROWS)
    )
    assert load(file).digest == before


def test_versions_tell_what_decided_requests_and_scores(file: Path) -> None:
    before = load(file).versions
    assert set(before) == {"task", "dataset", "prompt", "settings"}
    other = load(file, overrides={"sums": {"generate.temperature": "0"}}).versions
    assert {key for key in before if before[key] != other[key]} == {"settings"}


def test_a_wrong_task_is_told_each_time_it_is_asked_for(file: Path, tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").unlink()
    catalog = Catalog(folder=tmp_path)
    for _ in range(2):
        with pytest.raises(TaskError, match=r"data\.jsonl"):
            catalog.load(file)
    assert catalog.loaded == {}


def test_importing_the_catalog_loads_no_scorer_and_no_extra() -> None:
    heavy = "{'sympy', 'lark', 'openai', 'pyarrow', 'huggingface_hub'}"
    code = f"import pytest_llmeval.task.catalog, sys; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
