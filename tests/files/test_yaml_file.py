"""YAML with lines, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.yaml import MAX_ALIAS_NODES, parse_yaml, read_yaml

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "cases" / "yaml_refusals.yaml").read_text()
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "-"))
def test_refusals_name_file_line_and_reason(case: dict[str, Any]) -> None:
    with pytest.raises(TaskError) as refused:
        parse_yaml(case["text"], "task.yaml")
    assert str(refused.value).startswith(f"task.yaml:{case['line']}: ")
    assert case["says"] in str(refused.value)


def test_a_nine_level_bomb_is_refused_at_the_line_where_it_explodes() -> None:
    levels = ["a0: &a0 [l, l, l, l, l, l, l, l, l]"]
    levels += [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 10)
    ]
    with pytest.raises(TaskError, match=r"bomb\.yaml:6: aliases add more than 100,000 nodes"):
        parse_yaml("\n".join(levels), "bomb.yaml")


def test_a_bomb_of_merge_keys_is_refused_too() -> None:
    levels = ["a0: &a0 {x: 1, y: 2}"]
    levels += [
        f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 9)}]}}"
        for level in range(1, 10)
    ]
    with pytest.raises(TaskError, match="aliases add more than"):
        parse_yaml("\n".join(levels), "bomb.yaml")


def test_plain_rows_may_be_as_many_as_they_like() -> None:
    rows = MAX_ALIAS_NODES // 2 + 1
    value = parse_yaml("- [a, b]\n" * rows, "rows.yaml").value
    assert isinstance(value, list)
    assert len(value) == rows


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "- " * 5_000 + "a", "{a: " * 500 + "1" + "}" * 500]
)
def test_deep_nesting_is_refused_before_anything_recurses(text: str) -> None:
    with pytest.raises(TaskError, match=r"deep\.yaml:1: is nested deeper than 100"):
        parse_yaml(text, "deep.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: [1, -2, 0.5, .5, 1.5e+3]", [1, -2, 0.5, 0.5, 1500.0]),
        ("a: [true, on, no, null, ~]", [True, True, False, None, None]),
        ("a: ['012', !!str 012, \"1:30\"]", ["012", "012", "1:30"]),
        ("a: 2026-01-31", "2026-01-31"),
        ("a: 2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
        ("a: 1e5", "1e5"),
        ("d: &d {x: 1, y: 2}\na: {<<: *d, y: 3}", {"x": 1, "y": 3}),
    ],
)
def test_values_are_those_of_safe_load_held_to_json(text: str, value: object) -> None:
    document = parse_yaml(text, "task.yaml").value
    assert isinstance(document, dict)
    assert document["a"] == value


def test_lines_lead_to_keys_list_entries_and_the_nearest_key_above() -> None:
    document = parse_yaml("a: 1\nb:\n  c: 2\n  d:\n  - 1\n  - e: 3\n", "task.yaml")
    assert document.line(()) == 1
    assert document.line(("b", "d", 1, "e")) == 6
    assert document.line(("b", "d", 0)) == 5
    assert document.line(("b", "missing", "deeper")) == 2
    assert document.line(("b", "d", 7)) == 4


def test_an_own_key_has_its_own_line_where_a_merge_brings_it_too() -> None:
    document = parse_yaml("m: &m\n  x: 1\na:\n  <<: *m\n  x: 2\n", "task.yaml")
    assert document.line(("a", "x")) == 5


def test_an_empty_document_is_null() -> None:
    assert parse_yaml("# nothing\n", "task.yaml").value is None


def test_a_file_that_is_no_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "latin.yaml"
    file.write_bytes(b"a: 1\nb: caf\xe9\n")
    with pytest.raises(TaskError, match=r"latin\.yaml:2: is not UTF-8: byte 0xe9"):
        read_yaml(file, max_bytes=1000)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    file = tmp_path / "bom.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(file, max_bytes=1000).value == {"a": 1}


def test_a_file_over_its_size_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text("a: " + "x" * 1000)
    with pytest.raises(
        TaskError, match=r"large\.yaml: .* it has 1,003 bytes; at most 1,000 are read"
    ):
        read_yaml(file, max_bytes=1000)


def test_an_absent_file_is_a_task_error(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"none\.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml", max_bytes=1000)
