"""The soak's check of a finished part: each sample has the one outcome that it must have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from soak_project import Part

FILES: Final = (
    *("run.json", "rows.jsonl", "transcripts.jsonl", "samples.jsonl", "replies.sqlite3"),
    *("summary.json", "summary.md", "rows.csv", "report.html", "lock"),
)
"""What the folder of a finished run may hold."""


def run_folders(part: Part) -> list[Path]:
    """Return the run folders of a part; one, if all goes well."""
    return [one for one in part.reports.glob("2*") if one.is_dir()]


def last_rows(run: Path) -> dict[str, dict[str, Any]]:
    """Return the row of each sample that counts, the last one, by the sample's id."""
    file = run / "rows.jsonl"
    text = file.read_text() if file.exists() else ""
    rows: dict[str, dict[str, Any]] = {}
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):  # a killed session may leave a part of a line
            row = json.loads(line)
            rows[row["sample"]] = row
    return rows


def unfinished(part: Part) -> int:
    """Return how many samples do not have the outcome that they must have in the end."""
    folders = run_folders(part)
    rows = last_rows(folders[0]) if folders else {}
    outcomes = {sample: row["outcome"] for sample, row in rows.items()}
    return sum(outcomes.get(sample) != outcome for sample, outcome in part.expected.items())


def part_breaches(part: Part) -> Iterator[str]:
    """Yield what is wrong with the rows and files of a part after its last session."""
    folders = run_folders(part)
    if len(folders) != 1:
        yield f"{part.name}: {len(folders)} run folders, not one"
        return
    [run] = folders
    rows = last_rows(run)
    for sample in sorted(part.expected.keys() ^ rows.keys()):
        yield f"{sample}: {'has no row' if sample in part.expected else 'was not planned'}"
    for sample, row in rows.items():
        wanted = part.expected.get(sample)
        if row["outcome"] != wanted:
            yield f"{sample}: {row['outcome']}, not {wanted}: {row['explanation'][:200]!r}"
        if row["cached"] or row["recorded"]:
            yield f"{sample}: its row says that its replies came from elsewhere"
    yield from _summary_breaches(part, run)
    for file in sorted(one.name for one in run.iterdir() if one.name not in FILES):
        yield f"{part.name}: {file} was left in the run's folder"


def _summary_breaches(part: Part, run: Path) -> Iterator[str]:
    [entry] = json.loads((run / "summary.json").read_text())["entries"]
    counted = {name: count for name, count in entry["tally"]["counts"].items() if count}
    wanted = dict(Counter(part.expected.values()))
    if counted != wanted:
        yield f"{part.name}: summary.json counts {counted}, not {wanted}"
