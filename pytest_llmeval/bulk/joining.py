"""The output: the table with the columns of its scores, written once all parts are there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import parquet

from pytest_llmeval.bulk.parquet_files import open_parquet
from pytest_llmeval.bulk.part_folder import Part, PartFolder, parts_of, writing
from pytest_llmeval.bulk.row_reader import RowReader
from pytest_llmeval.bulk.score_columns import score_schema
from pytest_llmeval.bulk.table import Table
from pytest_llmeval.files.atomic import replacing

KEY: Final = b"llmeval"
"""In the metadata of the output: a JSON object with the digest of the manifest and the graders."""

_GROUP_BYTES: Final = 4 << 20
_MOST_ROWS: Final = 16_384
"""Bytes and rows of a row group of the output at most. It does not depend on the parts."""


def join(table: Table, parts: PartFolder, names: tuple[str, ...], out: Path) -> None:
    """Write the output; RunStopped if it cannot be written, and then `out` is as before.

    Its bytes depend on table, scores and the version of pyarrow alone.
    """
    schema = pa.unify_schemas([table.schema, score_schema(names)])
    about = {"job": parts.manifest.digest, "graders": dict(parts.manifest.graders)}
    metadata = {**(table.schema.metadata or {}), KEY: json.dumps(about, sort_keys=True).encode()}
    schema = schema.with_metadata(metadata)
    rows = max(1, min(_MOST_ROWS, _GROUP_BYTES // table.row_bytes))
    with writing(out), replacing(out) as file, parquet.ParquetWriter(file, schema) as writer:
        for group in _groups(table, parts, rows):
            # In one piece: where pages end depends on the pieces.
            writer.write_table(group.cast(schema).combine_chunks(), row_group_size=rows)


def is_output(out: Path, digest: str) -> bool:
    """Return whether a file is the output for the manifest with this digest."""
    try:
        about = json.loads((open_parquet(out).schema_arrow.metadata or {})[KEY])
        return bool(about["job"] == digest)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return False


def _groups(table: Table, parts: PartFolder, rows: int) -> Iterator[pa.Table]:
    """Yield the table with its scores, in pieces of `rows` rows."""
    reader = RowReader(table)
    scores = _Scores(parts)
    for first in range(0, table.rows, rows):
        piece = reader.read(first, min(rows, table.rows - first))
        added = scores.read(piece.num_rows)
        for name in added.column_names:
            piece = piece.append_column(added.schema.field(name), added.column(name))
        yield piece


class _Scores:
    """Reads the scores of all rows one after the other."""

    def __init__(self, parts: PartFolder) -> None:
        manifest = parts.manifest
        self._parts: Iterator[Part] = parts_of(manifest.rows, manifest.part_rows)
        self._read: Callable[[Part], pa.Table] = parts.read
        self._rest: pa.Table | None = None

    def read(self, rows: int) -> pa.Table:
        """Return the scores of the next rows."""
        found, missing = [], rows
        while missing:
            if self._rest is None or not self._rest.num_rows:
                self._rest = self._read(next(self._parts))
            piece = self._rest.slice(0, missing)
            self._rest = self._rest.slice(piece.num_rows)
            missing -= piece.num_rows
            found.append(piece)
        return pa.concat_tables(found)
