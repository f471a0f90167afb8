"""The parameter of a test: one sample, model and epoch of a task, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_llmeval.plugin.fixture_names import FIXTURES, PARAMETERS
from pytest_llmeval.plugin.own_fixtures import foreign_fixture


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one test.

    Attributes:
        file: the task's address: its file, with the variant if it has some.
        sample: id of the sample.
        model: label of the model under test; "" for the task's recording.
        epoch: number of the sample's repetition, from 1.
        id: their text in the test id.
    """

    file: Path
    sample: str
    model: str
    epoch: int
    id: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """The parameter of a marked test that cannot be made for samples.

    Attributes:
        problem: the message, with the place to correct.
    """

    problem: str


def mistake_of(item: pytest.Item) -> str | None:
    """Return why a marked item cannot be run; None if it can."""
    callspec = getattr(item, "callspec", None)
    found = None if callspec is None else callspec.params.get(PARAMETERS)
    if isinstance(found, Mistake):
        return found.problem
    return foreign_fixture(item)


def parameters_of(item: pytest.Item) -> Parameters | None:
    """Return the parameters of an item; None for tests without a sample."""
    callspec = getattr(item, "callspec", None)
    found = None if callspec is None else callspec.params.get(PARAMETERS)
    # Without samples, pytest makes one skipped item with a placeholder as its parameter.
    return found if isinstance(found, Parameters) else None


def waits(item: pytest.Item) -> bool:
    """Return whether an item waits for the engine: it has a sample and uses `completion`."""
    names = getattr(item, "fixturenames", ())
    return "completion" in names and parameters_of(item) is not None


def uses_run(item: pytest.Item) -> bool:
    """Return whether an item uses a fixture of this plugin."""
    return not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
