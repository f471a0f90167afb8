"""What a folder of parts was begun with: only equal input, fields and graders go on with it."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from pytest_llmeval.bulk.fields import Fields
from pytest_llmeval.bulk.job import Job, graders
from pytest_llmeval.bulk.table import Table
from pytest_llmeval.records import Record

FORMAT: Final = 1
"""Of parts and their manifest; another one is not gone on with."""

_WORDS: Final = {
    "format": "the format of its parts",
    "files": "the content of the table",
    "rows": "the number of rows",
    "fields": "the choice of columns (--fields)",
    "graders": "what grades (--scorer, --answer)",
    "limits": "the limit of a row (--row-seconds, --memory)",
    "part_rows": "the rows of a part (--part-rows)",
}
"""What the fields are called, in the order in which a difference is looked for."""


class Manifest(Record, frozen=True, kw_only=True):
    """Everything that the scores depend on, and the rows of a part.

    Attributes:
        format: `FORMAT`.
        files: sha256 of the table's files by their names.
        rows: number of rows.
        fields: the columns that are scored.
        graders: by score what grades, with options and own code (see `bulk.job.graders`).
        limits: what the scorers may take for one row.
        part_rows: rows of a part.
    """

    format: int = FORMAT
    files: dict[str, str]
    rows: int
    fields: Fields
    graders: dict[str, str]
    limits: dict[str, float]
    part_rows: int

    @classmethod
    def of(cls, table: Table, fields: Fields, job: Job, part_rows: int) -> Manifest:
        """Return the manifest of a table and a job; the table's files are read once."""
        return cls(
            files=table.digests(),
            rows=table.rows,
            fields=fields,
            graders=graders(job),
            limits={
                "cpu_seconds": job.cpu_seconds,
                "wall_seconds": job.wall_seconds,
                "memory_mb": job.memory_mb,
            },
            part_rows=part_rows,
        )

    @property
    def digest(self) -> str:
        """The sha256 of all but the size of the parts, which changes no score."""
        data = {name: value for name, value in self.to_json().items() if name != "part_rows"}
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()

    def difference(self, other: Manifest) -> str:
        """Return what another manifest has otherwise, in words; "" if nothing."""
        ours, theirs = self.to_json(), other.to_json()
        name = next((name for name in _WORDS if ours[name] != theirs[name]), "")
        if name == "files":
            changed = [file for file in other.files if self.files.get(file) != other.files[file]]
            return f"{_WORDS[name]} ({', '.join(changed[:3]) or 'there were more files'})"
        return f"{_WORDS[name]}, which was {ours[name]}" if name else ""
