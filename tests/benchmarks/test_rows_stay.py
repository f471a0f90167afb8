"""The recorded replies of our own fixtures give the rows that they always gave.

``data/expected_rows.jsonl`` holds what counts of each row. After a change of a fixture or of a
scorer's rules it is made anew, and its difference is read line by line::

    pytest benchmarks/ -n 2 -q
    python tests/benchmarks/test_rows_stay.py reports/latest/rows.jsonl
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

EXPECTED = Path(__file__).parent / "data" / "expected_rows.jsonl"
KEY = ("test", "task", "sample", "model", "epoch")


def essence(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what counts of a row: no times, versions or explanations."""
    scores = [
        {name: score[name] for name in ("name", "value", "decides")} for score in row["scores"]
    ]
    kept = {name: row[name] for name in (*KEY, "outcome", "answer", "stop_reason")}
    return {**kept, "scores": scores}


def read(lines: Iterable[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    rows = map(json.loads, lines)
    return {tuple(row[name] for name in KEY): essence(row) for row in rows}


@pytest.fixture(scope="module")
def expected() -> dict[tuple[Any, ...], dict[str, Any]]:
    return read(EXPECTED.read_text("utf-8").splitlines())


def test_every_row_is_as_it_was(
    recorded: Path, expected: dict[tuple[Any, ...], dict[str, Any]]
) -> None:
    found = read((recorded / "latest/rows.jsonl").read_text("utf-8").splitlines())
    assert found.keys() == expected.keys()
    assert [row for key, row in found.items() if row != expected[key]] == []


def test_counts_and_means_of_the_summary_are_those_of_the_rows(
    recorded: Path, expected: dict[tuple[Any, ...], dict[str, Any]]
) -> None:
    by_task = defaultdict(list)
    for row in expected.values():
        by_task[row["task"]].append(row)
    summary = json.loads((recorded / "latest/summary.json").read_text("utf-8"))
    entries = {entry["task"]: entry["tally"] for entry in summary["entries"]}
    assert entries.keys() == by_task.keys()
    for task, rows in by_task.items():
        counts = Counter(row["outcome"].replace(" ", "_") for row in rows)
        assert Counter(entries[task]["counts"]) == counts
        scored = [row for row in rows if row["outcome"] in {"correct", "incorrect"}]
        accuracy = fmean(row["outcome"] == "correct" for row in scored)
        assert entries[task]["accuracy"]["value"] == pytest.approx(accuracy)
        values = defaultdict(list)
        for score in (score for row in scored for score in row["scores"]):
            values[score["name"]].append(score["value"])
        means = {one["name"]: one["value"] for one in entries[task]["scores"]}
        assert means == pytest.approx({name: fmean(found) for name, found in values.items()})


def main() -> None:
    """Write the expected rows from the file of a run's rows that the command line names."""
    rows = read(Path(sys.argv[1]).read_text("utf-8").splitlines())
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for _, row in sorted(rows.items()))
    EXPECTED.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
