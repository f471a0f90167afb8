"""How many samples a gate takes, held against the enumeration of all runs and drawn ones."""

from __future__ import annotations

import random
import runpy
from pathlib import Path
from typing import Any

import pytest
from example_rows import row

from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.bounded_mean import critical
from pytest_llmeval.results.paired import paired_difference
from pytest_llmeval.results.sample_size import (
    flip_rate,
    flip_rate_between,
    sample_sizes,
    samples_to_pass,
    samples_to_show,
)

SCRIPT: dict[str, Any] = runpy.run_path(
    str(Path(__file__).parents[2] / "performance" / "gate_characteristics.py")
)
DRAWS = 300


def outcomes(text: str, epochs: int = 1) -> list[Row]:
    """Return a row for each letter: c correct, i incorrect; `epochs` of each sample in a row."""
    words: dict[str, Outcome] = {"c": "correct", "i": "incorrect"}
    return [
        row(str(place // epochs), words[letter], epoch=place % epochs + 1)
        for place, letter in enumerate(text)
    ]


@pytest.mark.parametrize("flips", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("drop", [0.1, 0.2])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_so_many_samples_pass_as_often_as_was_asked_for(
    flips: float, drop: float, power: float
) -> None:
    n = samples_to_pass(flips, drop, power)
    assert SCRIPT["power"](n, drop, flips) >= power - 0.02
    if flips >= 0.05:
        assert SCRIPT["power"](round(0.75 * n), drop, flips) < power


@pytest.mark.parametrize(("flips", "epochs"), [(0.1, 1), (0.1, 4), (0.3, 2)])
def test_with_epochs_too_runs_pass_and_drops_show_as_often_as_was_asked_for(
    flips: float, epochs: int
) -> None:
    def share(n: int, drop: float, limit: float, sign: int) -> float:
        generator = random.Random(f"{flips} {epochs} {drop}")

        def sample() -> tuple[list[float], list[float]]:
            if generator.random() < drop:
                return [1.0] * epochs, [0.0] * epochs
            chance = 0.5 if generator.random() < 2 * flips else 1.0
            a, b = ([float(generator.random() < chance) for _ in range(epochs)] for _ in "ab")
            return a, b

        z = [paired_difference([sample() for _ in range(n)]).mean.z(limit) for _ in range(DRAWS)]
        return sum(sign * one > critical(0.95) for one in z) / DRAWS

    to_pass, to_show = (
        needed(flips, 0.1, 0.8, epochs=epochs) for needed in (samples_to_pass, samples_to_show)
    )
    # Three standard errors of 2.3 points.
    assert 0.73 <= share(to_pass, 0.0, -0.1, 1) <= 0.95
    assert 0.73 <= share(to_show, 0.1, 0.0, -1) <= 0.95


def test_a_run_that_never_flips_takes_the_samples_that_can_tell() -> None:
    assert samples_to_pass(0.0, 0.05, 0.8) == samples_to_pass(0.0, 0.05, 0.99) == 73


def test_the_smallest_drop_is_the_one_that_the_samples_there_are_for() -> None:
    [found] = sample_sizes(0.1, 0.05, 0.8, epochs=[1], samples=200)
    assert found.smallest is not None
    assert samples_to_pass(0.1, found.smallest, 0.8) <= 200
    assert samples_to_pass(0.1, found.smallest - 0.002, 0.8) > 200
    [none] = sample_sizes(0.1, 0.05, 0.8, epochs=[1], samples=2)
    assert none.smallest is None


def test_more_epochs_spare_samples_and_cost_requests() -> None:
    one, two, four = sample_sizes(0.2, 0.05, 0.8, epochs=[1, 2, 4])
    assert one.to_pass > two.to_pass > four.to_pass
    assert one.to_pass < 2 * two.to_pass
    assert one.to_show > two.to_show > four.to_show


def test_flips_are_counted_between_all_pairs_of_epochs() -> None:
    # Of ccic 3 of 6 pairs differ, of cccc none.
    assert flip_rate(outcomes("ccic" + "cccc", epochs=4)) == pytest.approx(0.25)
    assert flip_rate(outcomes("ccic")) is None
    errors = [row("9", "error", epoch=epoch) for epoch in (1, 2)]
    assert flip_rate([*outcomes("ci", epochs=2), *errors]) == 1.0


def test_flips_are_counted_between_two_runs() -> None:
    assert flip_rate_between(outcomes("ccii"), outcomes("cicic")) == 0.5
    assert flip_rate_between(outcomes("c"), []) is None
    # c against ci differs in one of two pairs.
    assert flip_rate_between(outcomes("c"), outcomes("ci", epochs=2)) == 0.5
