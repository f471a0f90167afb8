"""What a run asked: excerpts of its questions, for those who read a list of samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_llmeval.files.json_lines import read_lines

SAMPLES: Final = "samples.jsonl"
"""The file of a run's folder that holds them; runs of earlier versions have none."""


def read_questions(folder: Path) -> Mapping[tuple[str, str], str]:
    """Return the texts of a run's questions by task and sample; UsageError for a wrong line."""
    return {
        (str(data.get("task")), str(data.get("sample"))): str(data.get("text", ""))
        for _, data in read_lines(folder / SAMPLES, [])
    }
