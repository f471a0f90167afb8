"""Who graded: one accuracy rests on the scores of one grader, and so does a comparison.

A grader is the text that `scoring.grader.grader_text` makes. A test may choose options by sample,
so options differ within a run for good reason; rules and judges do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pytest_llmeval.records import Record, Row
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.scoring.grader import rules_of

GRADER: Final = "grader:"
"""How the name of a grader's version in a row begins; the name of the score follows."""


class GraderShare(Record, frozen=True, kw_only=True):
    """The `n` scored rows of which one grader gave a score, and how many of them are correct."""

    score: str
    grader: str
    n: int
    correct: int


def graders_of(row: Row) -> dict[str, str]:
    """Return the grader of each of a row's scores by name; "" where none is known."""
    return {
        score.name: score.grader or str(row.versions.get(f"{GRADER}{score.name}", ""))
        for score in row.scores
    }


def mixed_graders(rows: Iterable[Row]) -> tuple[GraderShare, ...]:
    """Return the graders of each score that several gave, with their shares; () for one each.

    Several are rules or judges that differ, or options that differ with the task's settings.
    """
    scored = [row for row in rows if row.outcome in SCORED]
    by_score: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    for row in scored:
        for name, grader in graders_of(row).items():
            by_score[name].append((grader, row))
    return tuple(share for name in sorted(by_score) for share in _shares(name, by_score[name]))


def conflict(runs: Mapping[str, Iterable[Row]]) -> tuple[str, str, str, str, str] | None:
    """Return a score that two graders gave in rows that are to be one run.

    Args:
        runs: the rows of one task by the name of their run.

    Returns:
        The score; a run and its grader; and a run, maybe the same, with another one. None if every
        score has one.
    """
    known: dict[str, tuple[str, str]] = {}
    for run, rows in runs.items():
        for row in rows:
            for score, text in graders_of(row).items():
                rules = rules_of(text)
                first, expected = known.setdefault(score, (run, rules))
                if rules != expected:
                    return score, first, expected, run, rules
    return None


def _shares(score: str, graded: Sequence[tuple[str, Row]]) -> Iterator[GraderShare]:
    """Yield the share of each grader of a score if there are several."""
    parts: dict[str, list[Row]] = defaultdict(list)
    for grader, row in graded:
        parts[grader].append(row)
    if len({rules_of(grader) for grader in parts}) > 1:
        shown = _joined(parts)
    elif _differ_with_settings(graded):
        shown = parts
    else:
        return
    for grader, rows in sorted(shown.items()):
        correct = sum(row.outcome == "correct" for row in rows)
        yield GraderShare(score=score, grader=grader, n=len(rows), correct=correct)


def _joined(parts: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
    """Return the rows by rules and judges: options chosen by sample make no grader of their own."""
    joined: dict[str, list[Row]] = defaultdict(list)
    for grader, rows in parts.items():
        joined[rules_of(grader)] += rows
    return joined


def _differ_with_settings(graded: Sequence[tuple[str, Row]]) -> bool:
    by_settings: dict[str, set[str]] = defaultdict(set)
    for grader, row in graded:
        by_settings[str(row.versions.get("settings"))].add(grader)
    return len(set(map(frozenset, by_settings.values()))) > 1
