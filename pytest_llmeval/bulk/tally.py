"""How many rows are correct, incorrect, undecided or errors."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(slots=True)
class Tally:
    """Counts of the rows of one score.

    Attributes:
        correct, incorrect, undecided, errors: numbers of rows; each row is in one of them.
        sum: of the values.
        valued: number of rows with a value.
    """

    correct: int = 0
    incorrect: int = 0
    undecided: int = 0
    errors: int = 0
    sum: float = 0.0
    valued: int = 0

    def add(self, scores: pa.Table, name: str) -> None:
        """Count the rows of a part."""
        correct, error = scores.column(f"{name}.correct"), scores.column(f"{name}.error")
        value = scores.column(f"{name}.value")
        decided = len(correct) - correct.null_count
        right, failed = pc.sum(correct).as_py() or 0, len(error) - error.null_count
        self.correct += right
        self.incorrect += decided - right
        self.errors += failed
        self.undecided += len(correct) - decided - failed
        self.sum += pc.sum(value).as_py() or 0.0
        self.valued += len(value) - value.null_count

    @property
    def rows(self) -> int:
        """Number of counted rows."""
        return self.correct + self.incorrect + self.undecided + self.errors

    @property
    def accuracy(self) -> float | None:
        """Share of correct rows among the decided ones; None without one."""
        decided = self.correct + self.incorrect
        return self.correct / decided if decided else None

    @property
    def mean(self) -> float | None:
        """Mean of the values; None without one."""
        return self.sum / self.valued if self.valued else None
