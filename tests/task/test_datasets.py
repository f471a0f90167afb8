"""Datasets: every format, every check, and the order of what comes out."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from example_pictures import PNG

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.records import Sample
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.question import question_digest
from pytest_llmeval.task.samples import dataset_digest, read_samples, sample_groups

BAD: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "cases" / "bad_datasets.yaml").read_text()
)
ROWS: list[dict[str, Any]] = [
    {"id": 7, "input": "One?", "target": "1", "kind": "EASY", "hint": "é"},
    {"id": 3, "input": "Two, or three?", "target": "2", "kind": "HARD", "hint": "b\nc"},
]


def task_over(
    folder: Path, name: str, *, dataset: dict[str, Any] | None = None, **keys: Any
) -> Task:
    """Return a task in `folder` that reads the dataset file `name`."""
    data = {
        "name": "demo",
        "dataset": {"path": name, **(dataset or {})},
        "prompt": "{{ input }}",
        **keys,
    }
    file = folder / "task.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return load_task(file)


def samples_of(folder: Path, text: str, suffix: str = "jsonl", **keys: Any) -> Sequence[Sample]:
    """Return the samples of a task over a dataset file with this text."""
    (folder / f"rows.{suffix}").write_text(text)
    return read_samples(task_over(folder, f"rows.{suffix}", **keys))


def written_as(suffix: str, file: Path) -> None:
    """Write `ROWS` to `file` in the format that `suffix` stands for."""
    if suffix == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        parquet.write_table(pyarrow.Table.from_pylist(ROWS), file)
        return
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, ROWS[0])
    writer.writeheader()
    writer.writerows(ROWS)
    texts = {
        "json": json.dumps(ROWS),
        "jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS),
        "yaml": yaml.safe_dump(ROWS),
        "yml": yaml.safe_dump(ROWS),
        "csv": "\ufeff" + table.getvalue(),
    }
    file.write_bytes(texts[suffix].encode())


@pytest.mark.parametrize("suffix", ["json", "jsonl", "yaml", "yml", "csv", "parquet"])
def test_every_format_gives_the_same_samples_in_file_order(suffix: str, tmp_path: Path) -> None:
    written_as(suffix, tmp_path / f"rows.{suffix}")
    fields = {"tags": ["kind"], "metadata": {"clue": "hint"}}
    assert read_samples(task_over(tmp_path, f"rows.{suffix}", dataset={"fields": fields})) == (
        Sample(id="7", input="One?", target="1", tags=("EASY",), metadata={"clue": "é"}),
        Sample(
            id="3", input="Two, or three?", target="2", tags=("HARD",), metadata={"clue": "b\nc"}
        ),
    )


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["name"].replace(" ", "-"))
def test_a_wrong_dataset_is_refused_with_file_place_and_value(
    case: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "pictures").mkdir()
    (folder / "text.png").write_text("no picture at all")
    (tmp_path / "outside.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    file = folder / f"rows.{case['format']}"
    file.write_bytes(case["text"].encode())
    keys = {"scorer": case["scorer"]} if "scorer" in case else {}
    task = task_over(folder, file.name, dataset=case.get("dataset"), **keys)
    with pytest.raises(TaskError) as refused:
        read_samples(task)
    place = file if "in_task" not in case else task.file
    assert (refused.value.file, refused.value.line, refused.value.key) == (
        str(place),
        case["line"],
        case["column"],
    )
    for part in case["says"]:
        assert part in str(refused.value)


def test_an_absent_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"dataset.path: names '.*none\.jsonl': there is no such"):
        read_samples(task_over(tmp_path, "none.jsonl"))


def test_rows_may_stand_under_a_key(tmp_path: Path) -> None:
    text = "meta: 1\nquestions:\n- {id: a, input: x, target: y}\n"
    assert [
        sample.id for sample in samples_of(tmp_path, text, "yaml", dataset={"rows": "questions"})
    ] == ["a"]


def test_separator_characters_inside_json_strings_do_not_break_lines(tmp_path: Path) -> None:
    row = json.dumps({"id": 1, "input": "a\u2028b\u0085c", "target": "d"}, ensure_ascii=False)
    assert samples_of(tmp_path, row)[0].input == "a\u2028b\u0085c"


def test_windows_line_ends_are_no_part_of_a_row(tmp_path: Path) -> None:
    text = (
        '{"id": 1, "input": "a", "target": "b"}\r\n\r\n{"id": 2, "input": "c", "target": "d"}\r\n'
    )
    (tmp_path / "rows.jsonl").write_bytes(text.encode())
    assert [sample.id for sample in read_samples(task_over(tmp_path, "rows.jsonl"))] == ["1", "2"]


def test_numbers_are_targets_as_they_are_written(tmp_path: Path) -> None:
    text = (
        "- {id: a, input: x, target: 65}\n"
        "- {id: b, input: x, target: 0.5}\n"
        "- {id: 01, input: x, target: '007'}\n"
    )
    with pytest.raises(TaskError, match=r"rows\.yaml:3: '01' is not a decimal number"):
        samples_of(tmp_path, text, "yaml")
    samples = samples_of(tmp_path, text.replace("01", "'01'"), "yaml")
    assert [sample.target for sample in samples] == ["65", "0.5", "007"]
    assert samples[2].id == "01"


def test_rows_without_an_id_are_numbered_in_file_order_whatever_is_kept(tmp_path: Path) -> None:
    text = "input,target\na,\nb,x\nc,y\n"
    dataset = {"fields": {"id": None}, "keep": "target"}
    assert [sample.id for sample in samples_of(tmp_path, text, "csv", dataset=dataset)] == [
        "1",
        "2",
    ]


def test_keep_sees_columns_and_sample_fields(tmp_path: Path) -> None:
    text = "key,question,answer,level\n1,a,x,3\n2,b,,3\n3,c,z,1\n"
    dataset = {
        "fields": {"id": "key", "input": "question", "target": "answer"},
        "keep": "target != '' and level|int > 2 and question == input",
    }
    assert [sample.id for sample in samples_of(tmp_path, text, "csv", dataset=dataset)] == ["1"]


@pytest.mark.parametrize(
    ("keep", "says"),
    [
        ("targt != ''", "row 1: \"targt != ''\" fails: 'targt' is undefined"),
        ("target !=", "is not a jinja2 expression"),
        ("target.__class__.__mro__", "unsafe"),
        ("target / 2", "fails: unsupported operand"),
    ],
)
def test_a_wrong_keep_is_told_with_the_tasks_line(keep: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError) as refused:
        samples_of(tmp_path, '{"id": 1, "input": "a", "target": "b"}', dataset={"keep": keep})
    assert str(refused.value).startswith(f"{tmp_path / 'task.yaml'}:4: dataset.keep: ")
    assert says in str(refused.value)


def test_unique_keeps_the_first_of_equal_rows_that_keep_lets_through(tmp_path: Path) -> None:
    text = "id,input,target\n1,same,\n2,same,x\n3,other,y\n4,same,z\n"
    dataset = {"keep": "target != ''", "unique": "input"}
    assert [sample.id for sample in samples_of(tmp_path, text, "csv", dataset=dataset)] == [
        "2",
        "3",
    ]


def test_unique_compares_values_of_any_kind(tmp_path: Path) -> None:
    rows = [
        {"id": index, "input": "a", "target": "b", "key": key}
        for index, key in enumerate([[1], "[1]", [1], 1, 1])
    ]
    text = "\n".join(json.dumps(row) for row in rows)
    assert [sample.id for sample in samples_of(tmp_path, text, dataset={"unique": "key"})] == [
        "0",
        "1",
        "3",
    ]


def test_an_unknown_unique_is_told_with_the_tasks_line(tmp_path: Path) -> None:
    with pytest.raises(
        TaskError,
        match=r"task\.yaml:4: dataset\.unique: row 1: there is no column 'inpt'; did you mea",
    ):
        samples_of(tmp_path, '{"id": 1, "input": "a", "target": "b"}', dataset={"unique": "inpt"})


def test_a_duplicate_that_is_dropped_is_none(tmp_path: Path) -> None:
    text = "id,input,target\n1,same,x\n1,same,x\n"
    assert len(samples_of(tmp_path, text, "csv", dataset={"unique": "id"})) == 1


def test_columns_with_a_question_mark_may_be_absent(tmp_path: Path) -> None:
    fields = {"tags": ["kind?"], "metadata": {"clue": "hint?"}, "images": ["picture?"]}
    text = (
        "- {id: a, input: x, target: y}\n"
        "- {id: b, input: x, target: y, kind: [K, 2], hint: h, picture: p.png}\n"
    )
    (tmp_path / "p.png").write_bytes(PNG)
    without, with_all = samples_of(tmp_path, text, "yaml", dataset={"fields": fields})
    assert (without.tags, without.metadata, without.images) == ((), {}, ())
    assert (with_all.tags, with_all.metadata) == (("K", "2"), {"clue": "h"})
    assert with_all.images == (str(tmp_path / "p.png"),)


def test_images_lie_in_the_folder_of_the_dataset_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "other" / "images").mkdir(parents=True)
    (tmp_path / "other" / "images" / "1.png").write_bytes(PNG)
    other = tmp_path / "other" / "rows.json"
    other.write_text('[{"id": 1, "input": "a", "target": "b", "images": ["images/1.png"]}]')
    task_over(tmp_path, "own.json", dataset={"fields": {"images": "images"}})
    task = load_task(tmp_path / "task.yaml", {"dataset.path": "rows.json"}, other.parent)
    assert read_samples(task)[0].images == (str(tmp_path / "other" / "images" / "1.png"),)


def test_named_pictures_are_checked_and_no_part_of_the_question(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(PNG)
    fields = {"pictures": {"given": "shown?"}}
    text = "- {id: a, input: x, target: y}\n- {id: b, input: x, target: y, shown: p.png}\n"
    without, with_one = samples_of(tmp_path, text, "yaml", dataset={"fields": fields})
    assert (without.pictures, with_one.pictures) == ({}, {"given": str(tmp_path / "p.png")})
    assert question_digest(without) == question_digest(with_one)
    with pytest.raises(TaskError, match="leaves the dataset's folder"):
        samples_of(
            tmp_path,
            "- {id: b, input: x, target: y, shown: ../p.png}",
            "yaml",
            dataset={"fields": fields},
        )


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    text = '{"id": 1, "input": "a", "target": "b", "images": "b.png"}'
    assert samples_of(tmp_path, text, dataset={"fields": {"images": "images"}})[0].images == (
        str(tmp_path / "a.png"),
    )


def test_a_limit_takes_the_first_and_checks_all(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id,input,target\n1,a,b\n2,c,d\n2,e,f\n")
    task = task_over(tmp_path, "rows.csv")
    with pytest.raises(TaskError, match="the id '2' is also used"):
        read_samples(task, limit=1)
    (tmp_path / "rows.csv").write_text("id,input,target\n1,a,b\n2,c,d\n3,e,f\n")
    assert [sample.id for sample in read_samples(task, limit=2)] == ["1", "2"]


def test_groups_are_columns_or_metadata_and_lists_give_several(tmp_path: Path) -> None:
    text = "- {id: a, input: x, target: y, kind: [K, L], hint: 3}\n"
    dataset = {"fields": {"metadata": {"clue": "hint", "more": "more?"}}}
    task = task_over(tmp_path, "rows.yaml", dataset=dataset, group_by=["kind", "clue", "more"])
    (tmp_path / "rows.yaml").write_text(text)
    assert sample_groups(task, read_samples(task)[0]) == {"kind": ("K", "L"), "clue": ("3",)}


def test_metadata_that_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    rows = [{"id": 1, "input": "a", "target": "b", "raw": b"bytes"}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    task = task_over(tmp_path, "rows.parquet", dataset={"fields": {"metadata": {"raw": "raw"}}})
    with pytest.raises(
        TaskError, match=r"rows\.parquet: raw: row 1: is b'bytes', which JSON cannot hold"
    ):
        read_samples(task)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # None in sys.modules is how Python itself marks a module that cannot be imported.
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(UsageError, match=r"pip install 'pytest-llmeval-suite\[hub\]'"):
        read_samples(task_over(tmp_path, "rows.parquet"))


def test_parquet_may_hold_the_pictures_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "beside.png").write_bytes(PNG + b"2")
    images: list[list[dict[str, Any]]] = [
        [{"bytes": PNG, "path": "1.png"}],
        [{"bytes": None, "path": "beside.png"}],
        [{"bytes": b"no picture", "path": "3.png"}],
    ]
    rows = [
        {"id": n, "input": "a", "target": "b", "images": found} for n, found in enumerate(images, 1)
    ]
    fields = {"fields": {"images": ["images"]}}
    parquet.write_table(pyarrow.Table.from_pylist(rows[:2]), tmp_path / "rows.parquet")
    samples = read_samples(task_over(tmp_path, "rows.parquet", dataset=fields))
    assert [Path(path).read_bytes() for sample in samples for path in sample.images] == [
        PNG,
        PNG + b"2",
    ]
    assert (
        samples[0].images
        == read_samples(task_over(tmp_path, "rows.parquet", dataset=fields))[0].images
    )
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    with pytest.raises(TaskError, match=r"rows\.parquet: images: row 3: the image is not a PNG"):
        read_samples(task_over(tmp_path, "rows.parquet", dataset=fields))


def test_a_folder_that_no_reader_accepts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    with pytest.raises(
        TaskError, match=r"test: is a folder that no dataset reader accepts \(readers: .*inter_gps"
    ):
        read_samples(task_over(tmp_path, "test"))


def test_the_digest_is_that_of_the_files_bytes(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"abc")
    # FIPS 180-2, the first example.
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert dataset_digest(task_over(tmp_path, "rows.jsonl")) == known


PHYSICS = {
    "input": "content",
    "target": "answer",
    "tags": ["tag"],
    "metadata": {"solution": "solution"},
}
GEOMETRY = {"input": "problem", "target": "answer", "images": ["images"]}
GRAPH = {
    "id": "uid",
    "input": "question",
    "target": "solution",
    "tags": ["tags"],
    "metadata": {"name": "name"},
}


@pytest.mark.parametrize(
    ("path", "dataset", "count"),
    [
        ("phybench/PHYBench-fullques_v1.json", {"fields": PHYSICS}, 100),
        (
            "phybench/PHYBench-questions_v1.json",
            {"fields": PHYSICS, "keep": "target != ''", "unique": "content"},
            100,
        ),
        ("geometry3k/hiyouga_style_test_583.json", {"fields": GEOMETRY}, 583),
        ("heracles/qa_questions.yaml", {"rows": "questions", "fields": GRAPH}, 6),
    ],
)
def test_public_datasets_are_read(
    path: str, dataset: dict[str, Any], count: int, shared: Path, tmp_path: Path
) -> None:
    scorer = "sldp" if "heracles" in path else "judge"
    samples = read_samples(
        task_over(tmp_path, str(shared / "data" / path), dataset=dataset, scorer=scorer)
    )
    assert len({sample.id for sample in samples}) == len(samples) == count
    assert all(len(sample.images) == ("geometry3k" in path) for sample in samples)
