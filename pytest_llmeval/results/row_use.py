"""What a comparison made of the rows of a run: each is compared, or left out for one reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Self

from pytest_llmeval.records import Row
from pytest_llmeval.results.rows import SCORED


@dataclass(frozen=True, slots=True, kw_only=True)
class RowUse:
    """The rows of one run by what a comparison made of them; they add up to all its rows.

    Attributes:
        compared: scored rows of samples that were compared.
        error: rows that ended in an error.
        unscored: rows without a decision.
        not_run: rows of samples that were not run.
        alone: scored rows of samples that not all runs scored.
        retargeted: scored rows of samples whose target changed.
        requestioned: scored rows of samples whose question changed.
        unpaired: rows of a task, test or model without a counterpart.
    """

    compared: int = 0
    error: int = 0
    unscored: int = 0
    not_run: int = 0
    alone: int = 0
    retargeted: int = 0
    requestioned: int = 0
    unpaired: int = 0

    @classmethod
    def total(cls, uses: Iterable[Self]) -> Self:
        """Return the sum of several."""
        kept = list(uses)
        names = [field.name for field in fields(cls)]
        return cls(**{name: sum(getattr(one, name) for one in kept) for name in names})

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(getattr(self, field.name) for field in fields(self))


def use_of(rows: Sequence[Row], reasons: Mapping[str, str]) -> RowUse:
    """Return what became of the rows of one part.

    Args:
        rows: of a task, test function and model; one of each key.
        reasons: for the samples with scored rows, the field of `RowUse` that counts them.
    """
    counted = Counter(
        reasons[row.sample] if row.outcome in SCORED else row.outcome.replace(" ", "_")
        for row in rows
    )
    return RowUse(**counted)
