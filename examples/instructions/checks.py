"""Checks of the task's own; their options stand in the samples."""

from __future__ import annotations

from pytest_llmeval.records import Sample


def words(answer: str, sample: Sample, *, at_least: int = 0, at_most: int = 1000) -> bool:
    """Whether the number of words lies between two others."""
    return at_least <= len(answer.split()) <= at_most


def items(answer: str, sample: Sample, *, count: int) -> bool:
    """Whether the answer is a list of so many items with commas between them."""
    return len(answer.split(",")) == count


def lower_case(answer: str, sample: Sample) -> bool:
    """Whether no letter is a capital."""
    return answer == answer.lower()
