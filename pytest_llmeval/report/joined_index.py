"""The tables of samples of several runs as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pytest_llmeval.records import Json
from pytest_llmeval.report.sample_index import COLUMNS

_PART: Final = COLUMNS.index("part")
_QUESTION: Final = COLUMNS.index("question")
_TAGS: Final = COLUMNS.index("tags")


def joined_index(
    indexes: Sequence[dict[str, Any]], runs: Sequence[dict[str, Json]]
) -> dict[str, Json]:
    """Return the indexes of several runs as one.

    Args:
        indexes: for each run, the result of `sample_index`.
        runs: for each run, its entry in the list ``runs`` of the page.
    """
    tags = list(dict.fromkeys(tag for index in indexes for tag in index["tags"]))
    numbers = {tag: number for number, tag in enumerate(sorted(tags))}
    joined: dict[str, Any] = {
        "runs": list(runs),
        "columns": list(COLUMNS),
        "parts": [],
        "questions": [],
        "tags": sorted(tags),
        "rows": [],
    }
    for number, index in enumerate(indexes):
        parts, questions = len(joined["parts"]), len(joined["questions"])
        joined["parts"] += [{**part, "run": number} for part in index["parts"]]
        joined["questions"] += index["questions"]
        for row in index["rows"]:
            row[_PART] += parts
            row[_QUESTION] = None if row[_QUESTION] is None else row[_QUESTION] + questions
            row[_TAGS] = [numbers[index["tags"][tag]] for tag in row[_TAGS]]
            joined["rows"].append(row)
    return joined
