"""Which answers of a run were scored without certainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.records.score import OPINIONS
from pytest_llmeval.results.rows import SCORED, last_scores

ORDER: Final = ("no verdict", "judges disagree", "votes differ", "near the bar")
"""The reasons, the most uncertain first."""


class Uncertainty:
    """Tells why an answer's score is uncertain, among the rows of one task and model."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Find the bar of each graded score: the lowest correct and the highest incorrect value."""
        self._bars: set[tuple[str, float]] = set()
        values: dict[str, dict[bool, set[float]]] = {}
        for score in (score for row in rows for score in _deciding(row)):
            if score.value is not None and score.correct is not None:
                sides = values.setdefault(score.name, {True: set(), False: set()})
                sides[score.correct].add(score.value)
        for name, sides in values.items():
            # Two values, right and wrong, have no bar between them.
            if len(sides[True] | sides[False]) > 2 and sides[True] and sides[False]:  # noqa: PLR2004
                self._bars |= {(name, min(sides[True])), (name, max(sides[False]))}

    def reason(self, row: Row) -> str:
        """Return why, as in `ORDER`; "" if nothing speaks against the score."""
        if row.outcome not in SCORED:
            return "no verdict"
        opinions = [opinion for score in row.scores for opinion in _opinions(score)]
        if len({opinion.get("correct") for opinion in opinions}) > 1:
            return "judges disagree"
        if any(len(set(cast("list[Json]", one.get("votes", [])))) > 1 for one in opinions):
            return "votes differ"
        near = any((score.name, score.value) in self._bars for score in _deciding(row))
        return "near the bar" if near else ""


def _deciding(row: Row) -> list[Score]:
    return [score for score in last_scores(row).values() if score.decides]


def _opinions(score: Score) -> list[dict[str, Json]]:
    return cast("list[dict[str, Json]]", score.details.get(OPINIONS, []))
