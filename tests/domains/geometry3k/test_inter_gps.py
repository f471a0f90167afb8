"""The public data as Inter-GPS unpacks them: a folder, read without a word in the task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from example_pictures import PNG

from pytest_llmeval.domains.geometry3k.inter_gps import InterGps
from pytest_llmeval.errors import TaskError
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.samples import dataset_digest, read_samples

FIELDS = {"input": "problem_text", "target": "answer_text", "images": ["images"]}


def write_problem(folder: Path, number: int, **keys: Any) -> None:
    """Write a problem in the form of Inter-GPS."""
    (folder / f"{number}").mkdir(parents=True)
    data = {
        "problem_text": f"Find {number}.",
        "choices": ["10", "20", "30", "40"],
        "answer": "B",
        **keys,
    }
    (folder / f"{number}/data.json").write_text(json.dumps(data))
    (folder / f"{number}/img_diagram.png").write_bytes(PNG)


def task_over(folder: Path, name: str) -> Task:
    """Return a task in `folder` whose dataset is the folder `name` in it."""
    data = {
        "name": "demo",
        "dataset": {"path": name, "fields": FIELDS},
        "prompt": "{{ input }}",
    }
    file = folder / "task.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return load_task(file)


def test_a_folder_gives_a_sample_for_each_problem_by_number(tmp_path: Path) -> None:
    for number in (12, 3):
        write_problem(tmp_path / "test", number)
    (tmp_path / "test/notes").mkdir()
    samples = read_samples(task := task_over(tmp_path, "test"))
    assert [(one.id, one.input, one.target) for one in samples] == [
        ("3", "Find 3.", "20"),
        ("12", "Find 12.", "20"),
    ]
    assert samples[0].images == (str(tmp_path / "test/3/img_diagram.png"),)
    before = dataset_digest(task)
    (tmp_path / "test/3/data.json").write_text("{}")
    assert dataset_digest(task) != before


@pytest.mark.parametrize(
    "keys", [{"answer": "E"}, {"answer": 2}, {"answer": ["B"]}, {"choices": None}]
)
def test_a_letter_that_stands_for_no_choice_is_refused(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    write_problem(tmp_path / "test", 7, **keys)
    with pytest.raises(
        TaskError, match=r"7/data\.json: answer: row 1: is .*, not the letter of one of the choices"
    ):
        read_samples(task_over(tmp_path, "test"))


def test_a_problem_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    write_problem(tmp_path / "test", 7)
    (tmp_path / "test/7/data.json").write_text("[]")
    with pytest.raises(TaskError, match=r"7/data\.json: row 1: is a list, not a mapping"):
        read_samples(task_over(tmp_path, "test"))


def test_other_folders_are_left_to_other_readers(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/data.json").write_text("{}")
    assert not InterGps().accepts(tmp_path)
    write_problem(tmp_path, 1)
    assert InterGps().accepts(tmp_path)
