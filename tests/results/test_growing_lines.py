"""A file of rows that somebody writes, maybe on another machine, while it is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from example_rows import row
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row
from pytest_llmeval.results.growing_lines import GrowingLines, line_at

TEXTS = ("plain", "two\nlines", "\u2028", "\ud800 half a pair", "𝒳" * 50, "")


def data(count: int) -> bytes:
    """Return the file of as many rows as a session writes it."""
    rows = [row(sample=str(number), answer=TEXTS[number % len(TEXTS)]) for number in range(count)]
    return b"".join(json.dumps(one.to_json()).encode() + b"\n" for one in rows)


@given(st.integers(0, 8), st.lists(st.integers(0, 6000), max_size=8))
def test_wherever_the_writer_has_come_to_each_row_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, count: int, ends: list[int]
) -> None:
    file = tmp_path_factory.mktemp("run") / "rows.jsonl"
    whole, lines = data(count), GrowingLines(file, Row)
    found = list(lines.added())
    for end in sorted({min(end, len(whole)) for end in ends} | {len(whole)}):
        file.write_bytes(whole[:end])
        found += lines.added()
    assert [one.record.sample for one in found] == [str(number) for number in range(count)]
    assert lines.at == len(whole)
    assert lines.added() == []
    for place, record in found:
        assert json.loads(line_at(file, place))["sample"] == record.sample


def test_a_place_where_no_line_begins_gives_none(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    whole = data(3)
    file.write_bytes(whole + b'{"half')
    begins = {0, *(at + 1 for at, sign in enumerate(whole) if sign == 10)} - {len(whole)}
    for place in range(len(whole) + 10):
        if place in begins:
            assert line_at(file, place).endswith(b"\n")
        else:
            with pytest.raises(UsageError, match="no line begins"):
                line_at(file, place)


def test_bytes_that_a_shared_folder_still_lacks_are_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    whole = data(3)
    lines = GrowingLines(file, Row)
    hole = len(whole) // 2
    file.write_bytes(whole[:hole] + b"\0" * 20 + whole[hole + 20 :])
    assert len(lines.added()) == 1
    file.write_bytes(whole)
    assert [one.record.sample for one in lines.added()] == ["1", "2"]
    assert lines.wrong == 0


def test_lines_that_are_no_rows_are_counted_and_left_out(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    deep = b"[" * 100_000
    file.write_bytes(b"\n{}\nnull\n" + data(1) + b"\xff\xfe\n" + deep + b"\n" + data(2))
    lines = GrowingLines(file, Row)
    assert len(lines.added()) == 3
    assert lines.wrong == 5


def test_a_file_that_became_shorter_is_another_one(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(data(3))
    lines = GrowingLines(file, Row)
    lines.added()
    file.write_bytes(data(1))
    with pytest.raises(UsageError, match="shorter than it was"):
        lines.added()
    file.unlink()
    with pytest.raises(FileNotFoundError):
        lines.added()
