"""Scores of real model answers, mode by answer set; then what an audit called wrongly graded, answer by answer.

The answers (70, of two models, to public problems) come with the scores that the public reference
gave them on record, and some with an audit's verdict on a score below 100: the grader failed, the
model did, or the benchmark.

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

from pytest_llmeval.scoring.eed import EedResult, Mode, eed_score_many  # noqa: E402 - found by the line above

SHARED = Path(os.environ.get("LLMEVAL_SHARED", ROOT.parent / "shared"))
MODES: tuple[Mode, ...] = ("corrected", "published")


class Answer(NamedTuple):
    """A model's answer, its target, and what is on record about it."""

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
    """Return the answers of all files, in groups by model and verdict."""
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
    """Print how the scores of each group fall, a line a mode."""
    print(
        f"{'answers':<36}{'mode':<11}{'n':>4}{'100':>6}{'30-60':>7}{'0-30':>6}{'0':>5}{'unread':>8}{'mean':>8}"
    )
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
    """Print one line of the table; the unreadable ones are among the zeros."""
    parts = (sum(score == 100 for score in scores), sum(30 <= score <= 60 for score in scores))
    low, none = sum(0 < score < 30 for score in scores), sum(score == 0 for score in scores)
    shown = "" if unread is None else unread
    mean = statistics.fmean(scores)
    print(
        f"{group:<36}{mode:<11}{len(scores):>4}{parts[0]:>6}{parts[1]:>7}{low:>6}{none:>5}{shown:>8}{mean:>8.1f}"
    )


def print_failures(answers: Sequence[Answer], results: dict[Mode, list[EedResult]]) -> None:
    """Print what became of the answers whose recorded score an audit put down to the grader."""
    print(
        "\nput down to the grader\nproblem  recorded  published  corrected  in corrected mode; in published mode"
    )
    for answer, corrected, published in zip(
        answers, results["corrected"], results["published"], strict=True
    ):
        if answer.group.endswith("grader_failure") and answer.recorded is not None:
            edits = "".join(f", {edit}" for edit in corrected.edits[:2])
            print(f"{answer.problem:>7}{answer.recorded:>10.2f}{published.score:>11.2f}{corrected.score:>11.2f}"
                  f"  {corrected.reason}{edits}; {published.reason}")  # fmt: skip


if __name__ == "__main__":
    main()
