"""Any range of rows of any table is read as it was written, whatever its files and row groups."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest
from bulk.tables import write
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.bulk.row_reader import RowReader
from pytest_llmeval.bulk.table import Table
from pytest_llmeval.errors import UsageError

FILES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 15)), min_size=1, max_size=4)
"""Files with their rows and the rows of a row group."""


@given(
    files=FILES,
    ranges=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=8),
    some=st.booleans(),
)
def test_any_ranges_in_any_order_are_the_rows_that_were_written(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[tuple[int, int]],
    ranges: list[tuple[float, float]],
    some: bool,  # noqa: FBT001 - hypothesis gives it
) -> None:
    folder, begin = tmp_path_factory.mktemp("table"), 0
    for number, (rows, group) in enumerate(files):
        cells = list(range(begin, begin + rows))
        columns = {
            "a": pa.array(cells, pa.int64()),
            "a.b": pa.array([str(n) for n in cells], pa.string()),
        }
        write(folder / f"{number}.parquet", pa.table(columns), row_group_size=group)
        begin += rows
    table = Table.open(folder)
    assert table.rows == begin
    reader = RowReader(table, ["a"] if some else None)
    for start, length in ranges:
        first = round(start * begin)
        rows = round(length * (begin - first))
        found = reader.read(first, rows)
        assert found.column("a").to_pylist() == list(range(first, first + rows))
        assert found.column_names == (["a"] if some else ["a", "a.b"])


def test_a_folder_is_read_in_the_order_of_names_without_marked_ones(tmp_path: Path) -> None:
    for name in ("b", "a", "_temporary", ".hidden"):
        write(tmp_path / f"{name}.parquet", {"x": [name]})
    (tmp_path / "_SUCCESS").touch()
    assert RowReader(Table.open(tmp_path)).read(0, 2).column("x").to_pylist() == ["a", "b"]


def test_what_is_no_table_is_one_error_that_names_it(tmp_path: Path) -> None:
    write(tmp_path / "whole.parquet", {"x": [1] * 1_000})
    content = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "text.parquet").write_text("id,answer\n")
    (tmp_path / "cut.parquet").write_bytes(content[:-10])
    os.mkfifo(tmp_path / "fifo.parquet")
    (tmp_path / "rows.csv").write_text("x\n1\n")
    for name in ("empty.parquet", "text.parquet", "cut.parquet", "fifo.parquet", "rows.csv"):
        with pytest.raises(UsageError, match=f"^{tmp_path}/{name}: "):
            Table.open(tmp_path / name)


def test_a_folder_of_different_tables_is_refused_with_the_column(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", {"answer": ["a"]})
    write(tmp_path / "2.parquet", {"answer": [1]})
    with pytest.raises(
        UsageError, match=r"2\.parquet: has the column 'answer' \(int64\), unlike 1\.parquet"
    ):
        Table.open(tmp_path)
    (tmp_path / "2.parquet").unlink()
    (tmp_path / "part=1").mkdir()
    with pytest.raises(UsageError, match="holds the folder 'part=1'"):
        Table.open(tmp_path)


def test_an_empty_folder_and_repeated_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a folder without a file"):
        Table.open(tmp_path)
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(UsageError, match="two columns 'x'"):
        Table.open(write(tmp_path / "twice.parquet", twice))


def test_a_damaged_page_is_one_error_when_it_is_reached(tmp_path: Path) -> None:
    file = write(tmp_path / "t.parquet", {"x": [os.urandom(8).hex() for _ in range(5_000)]})
    content = bytearray(file.read_bytes())
    content[4:24] = b"\xff" * 20
    file.write_bytes(content)
    table = Table.open(file)
    with pytest.raises(UsageError, match=r"t\.parquet: (is not a Parquet|cannot be read)"):
        RowReader(table).read(0, 5_000)
