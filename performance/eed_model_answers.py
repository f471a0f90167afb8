"""Print the scores of real model answers by group, then row by row.

The 70 answers of two models to public problems have recorded scores of the public reference. Some
have an audit's finding on a score below 100: the grader failed, the model, or the benchmark. Scores
of an earlier version, kept with `--json`, are shown beside those of this one.

    python performance/eed_model_answers.py [FOLDER] [--json FILE] [--before FILE] [--processes N]
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
    parser.add_argument("--json", type=Path, help="write the corrected scores here")
    parser.add_argument("--before", type=Path, help="corrected scores of an earlier version")
    options = parser.parse_args()
    answers = read_answers(options.folder)
    pairs = [(answer.text, answer.target) for answer in answers]
    results = {
        mode: list(eed_score_many(pairs, mode=mode, processes=options.processes)) for mode in MODES
    }
    print_table(answers, results)
    scores = [result.score for result in results["corrected"]]
    if options.json:
        options.json.write_text(json.dumps(scores))
    before = json.loads(options.before.read_text()) if options.before else [None] * len(scores)
    print_rows(answers, results, before)


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


def print_rows(
    answers: Sequence[Answer], results: dict[Mode, list[EedResult]], before: Sequence[float | None]
) -> None:
    """Print all scores of each answer that some mode or version gives less than 100."""
    print("\nproblem  recorded  published    before  corrected  why; group")
    for answer, corrected, published, earlier in zip(
        answers, results["corrected"], results["published"], before, strict=True
    ):
        scores = (answer.recorded, published.score, earlier, corrected.score)
        if all(score in (None, 100.0) for score in scores):
            continue
        cells = "".join(
            f"{'-' if score is None else f'{score:.2f}':>{width}}"
            for score, width in zip(scores, (10, 11, 10, 11), strict=True)
        )
        edits = "".join(f", {edit}" for edit in corrected.edits[:2])
        print(f"{answer.problem:>7}{cells}  {corrected.reason}{edits}; {answer.group}")


if __name__ == "__main__":
    main()
