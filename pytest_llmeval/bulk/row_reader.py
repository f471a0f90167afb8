"""Ranges of rows of a table, read one behind the other."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pytest_llmeval.bulk.parquet_files import open_parquet, reading
from pytest_llmeval.bulk.table import Table
from pytest_llmeval.errors import UsageError


class RowReader:
    """Reads ranges of rows of a table; each range costs least right behind the one before."""

    def __init__(self, table: Table, columns: list[str] | None = None) -> None:
        """Begin at the first row.

        Args:
            table: the table.
            columns: names of the columns to read; None for all.
        """
        self._table, self._columns = table, columns
        self._next = 0
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._batch: pa.RecordBatch | None = None

    def read(self, first: int, rows: int) -> pa.Table:
        """Return `rows` rows from number `first` on.

        Raises:
            UsageError: a file cannot be read.
        """
        if first < self._next or not self._is_near(first):
            self._seek(first)
        self._take(first - self._next)
        return pa.Table.from_batches(self._take(rows), schema=self._schema)

    @property
    def _schema(self) -> pa.Schema:
        schema = self._table.schema
        if self._columns is None:
            return schema
        return pa.schema([schema.field(name) for name in self._columns], schema.metadata)

    def _is_near(self, first: int) -> bool:
        """Return whether no row group begins between the reader's place and a later row."""
        return self._batch is not None and all(
            not self._next < begin <= first for begin, *_ in self._groups()
        )

    def _groups(self) -> Iterator[tuple[int, int, int]]:
        """Yield the number of the first row of each row group, its file and its index there."""
        begin = 0
        for number, file in enumerate(self._table.files):
            for index, rows in enumerate(file.groups):
                yield begin, number, index
                begin += rows

    def _seek(self, first: int) -> None:
        places = [place for place in self._groups() if place[0] <= first]
        if places:
            self._next, number, index = places[-1]
            self._batches, self._batch = self._read_from(number, index), None

    def _read_from(self, number: int, index: int) -> Iterator[pa.RecordBatch]:
        for file in self._table.files[number:]:
            with reading(file.path):
                opened = open_parquet(file.path)
                if opened.metadata.num_rows != file.rows:
                    msg = f"{file.path}: has other rows than when the scoring began"
                    raise UsageError(msg)
                yield from opened.iter_batches(
                    batch_size=min(4_096, max(1, (4 << 20) // self._table.row_bytes)),
                    row_groups=range(index, len(file.groups)),
                    columns=self._columns,
                    use_threads=False,
                )
            index = 0

    def _take(self, rows: int) -> list[pa.RecordBatch]:
        """Return the next rows, as batches."""
        found = []
        while rows:
            if self._batch is None or not self._batch.num_rows:
                self._batch = next(self._batches).select(self._schema.names)
            piece = self._batch.slice(0, rows)
            self._batch = self._batch.slice(piece.num_rows)
            rows -= piece.num_rows
            self._next += piece.num_rows
            found.append(piece)
        return found
