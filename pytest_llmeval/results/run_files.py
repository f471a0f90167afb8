"""The names of the files in a run's folder."""

from __future__ import annotations

from typing import Final

SCHEMA: Final = 1
"""Version of the run's files; it stands in run.json."""

RUN: Final = "run.json"
ROWS: Final = "rows.jsonl"
TRANSCRIPTS: Final = "transcripts.jsonl"
SAMPLES: Final = "samples.jsonl"
SUMMARY: Final = "summary.json"
SUMMARY_TEXT: Final = "summary.md"
REPORT: Final = "report.html"
CSV: Final = "rows.csv"
PIPELINES: Final = "pipelines.csv"
PARQUET: Final = "rows.parquet"
LABELS: Final = "labels.jsonl"

LATEST: Final = "latest"
"""The name, in the folder of runs, of the link to the newest."""
