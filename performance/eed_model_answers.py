"""Print the scores of real model answers by group, then those that an audit called wrongly graded.

The 70 answers of two models to public problems have recorded scores of the public reference. Some
have an audit's finding on a score below 100: the grader failed, the model, or the benchmark.

    python performance/eed_model_answers.py [FOLDER] [--processes N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the package of this checkout

from pytest_llmeval.scoring.eed import EedResult, Mode, eed_score_many  # noqa: E402 - see path

SHARED = Path(os.environ.get("LLMEVAL_SHARED", ROOT.parent / "shared"))
MODES: tuple[Mode, ...] = ("corrected", "published")
WIDTHS = (4, 6, 7, 6, 5, 8, 8)


class Answer(NamedTuple):
    """A model's answer, its target, its group and its recorded score."""

    problem: int
    group: str
    text: str
    target: str
    recorded: float | None


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder", type=Path, nargs="?", default=SHARED / "data" / "phybench" / "model_answers"
    )
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    answers = read_answers(options.folder)
    pairs = [(answer.text, answer.target) for answer in answers]
    results = {
        mode: list(eed_score_many(pairs, mode=mode, processes=options.processes)) for mode in MODES
    }
    print_table(answers, results)
    print_failures(answers, results)


def read_answers(folder: Path) -> list[Answer]:
    """Return the answers of all files, in groups by model and the audit's finding."""
    rows = [
        row
        for file in sorted(folder.glob("*.json"))
        for row in json.loads(file.read_text(encoding="utf-8"))
    ]
    answers = [
        Answer(
            problem=row["id"],
            group=f"{row['model'].split()[0]}, {row.get('audit_verdict') or 'no verdict'}",
            text=row.get("model_answer", row.get("model_response")),
            target=row["gold"],
            recorded=row.get("recorded_official_eed"),
        )
        for row in rows
    ]
    return sorted(answers, key=lambda answer: answer.group)


def print_table(answers: Sequence[Answer], results: dict[Mode, list[EedResult]]) -> None:
    """Print the distribution of each group's scores, a line for each mode."""
    heads = ("n", "100", "30-60", "0-30", "0", "unread", "mean")
    columns = "".join(f"{head:>{width}}" for head, width in zip(heads, WIDTHS, strict=True))
    print(f"{'answers':<36}{'mode':<11}{columns}")
    for group in dict.fromkeys(answer.group for answer in answers):
        recorded = [
            answer.recorded
            for answer in answers
            if answer.group == group and answer.recorded is not None
        ]
        if recorded:
            print_line(group, "recorded", recorded, unread=None)
        for mode in MODES:
            found = [
                result
                for answer, result in zip(answers, results[mode], strict=True)
                if answer.group == group
            ]
            scores = [result.score for result in found]
            print_line(
                group,
                mode,
                scores,
                unread=sum(result.reading.startswith("unreadable") for result in found),
            )


def print_line(group: str, mode: str, scores: list[float], *, unread: int | None) -> None:
    """Print one line of the table; unreadable answers count among the zeros, too."""
    cells = (
        len(scores),
        sum(score == 100 for score in scores),
        sum(30 <= score <= 60 for score in scores),
        sum(0 < score < 30 for score in scores),
        sum(score == 0 for score in scores),
        "" if unread is None else unread,
        f"{statistics.fmean(scores):.1f}",
    )
    columns = "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
    print(f"{group:<36}{mode:<11}{columns}")


def print_failures(answers: Sequence[Answer], results: dict[Mode, list[EedResult]]) -> None:
    """Print the scores of the answers for which the audit found that the grader failed."""
    print("\nfailures of the grader")
    print("problem  recorded  published  corrected  in corrected mode; in published mode")
    for answer, corrected, published in zip(
        answers, results["corrected"], results["published"], strict=True
    ):
        if answer.group.endswith("grader_failure") and answer.recorded is not None:
            edits = "".join(f", {edit}" for edit in corrected.edits[:2])
            scores = f"{answer.recorded:>10.2f}{published.score:>11.2f}{corrected.score:>11.2f}"
            print(f"{answer.problem:>7}{scores}  {corrected.reason}{edits}; {published.reason}")


if __name__ == "__main__":
    main()
