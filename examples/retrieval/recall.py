"""How much of what an answer needs was retrieved."""

from __future__ import annotations

from typing import cast

from pytest_llmeval.records import Sample


def recall(answer: str | None, sample: Sample, *, k: int = 5) -> float:
    """Return the share of the relevant passages that are among the first `k` retrieved ones."""
    relevant = cast("list[str]", sample.metadata["relevant"])
    retrieved = cast("list[str]", sample.metadata["retrieved"])[:k]
    return len(set(relevant) & set(retrieved)) / len(relevant)
