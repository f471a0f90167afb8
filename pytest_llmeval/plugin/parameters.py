"""What a test was made for: one sample, model and epoch of a task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

CASE = "_llmeval_case"
"""The fixture that carries a test's parameters; `sample` and `completion` build on it."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which sample of which task, under which model, in which epoch; `id` as in the test id."""

    file: Path
    sample: str
    model: str
    epoch: int
    id: str


def parameters_of(item: pytest.Item) -> Parameters | None:
    """Return what an item was made for; None for tests without a sample."""
    callspec = getattr(item, "callspec", None)
    found = None if callspec is None else callspec.params.get(CASE)
    # Where no sample is left, pytest makes one skipped item with a placeholder.
    return found if isinstance(found, Parameters) else None


def waits(item: pytest.Item) -> bool:
    """Whether an item waits for the engine: it has a sample and uses `completion`."""
    names = getattr(item, "fixturenames", ())
    return "completion" in names and parameters_of(item) is not None
