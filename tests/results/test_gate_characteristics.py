"""How often gates decide wrongly: by enumeration of all runs, and by simulation with epochs."""

from __future__ import annotations

import random
import runpy
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.results.bounded_mean import critical
from pytest_llmeval.results.paired import paired_difference

ROOT = Path(__file__).parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "performance" / "gate_characteristics.py"))
PAGE = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")

DRAWS = 500
MOST = 0.025 + 3 * (0.025 * 0.975 / DRAWS) ** 0.5
"""Largest share of draws, three standard errors above 2.5 %."""

Draw = Callable[[random.Random], tuple[Sequence[float], Sequence[float]]]


@pytest.mark.parametrize("drop", [0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25])
def test_a_drop_of_exactly_the_allowed_size_passes_in_one_run_of_forty_at_most(
    drop: float,
) -> None:
    chances = {n: SCRIPT["false_passes"](n, drop) for n in (*range(1, 26), 33, 48, 80)}
    assert max(chances.values()) <= 0.0262, chances


@pytest.mark.parametrize("n", [1, 6, 19, 40])
def test_more_gains_or_fewer_losses_never_shut_a_gate(n: int) -> None:
    # The enumeration counts on it.
    for drop in (0.0, 0.05, 0.2):
        fewest = SCRIPT["fewest_gained"](n, drop)
        for lost, least in enumerate(fewest):
            passing = [b for b in range(n - lost + 1) if SCRIPT["passes"](b, lost, n, drop)]
            assert passing == list(range(least, n - lost + 1))


def test_a_run_like_its_baseline_passes_from_the_number_of_samples_on_that_can_tell() -> None:
    # 0.95 ** 72 = 0.0249: fewer samples miss a loss of 5 % with a chance above 2.5 %.
    assert not SCRIPT["passes"](0, 0, 71, 0.05)
    assert SCRIPT["passes"](0, 0, 73, 0.05)


def test_the_page_has_the_figures_that_the_code_gives() -> None:
    lines = list(SCRIPT["tables"]())
    assert "\n".join(lines) in PAGE


def false_rates(draw: Draw, n: int, change: float, scale: float) -> tuple[float, float]:
    """Return how often Z of the true `change` lies above and below the critical value."""
    generator, z = random.Random(n), critical(0.95)
    found = [
        paired_difference([draw(generator) for _ in range(n)], scale=scale).mean.z(change)
        for _ in range(DRAWS)
    ]
    return sum(one > z for one in found) / DRAWS, sum(one < -z for one in found) / DRAWS


def trials(generator: random.Random, chance: float, epochs: int) -> list[float]:
    return [float(generator.random() < chance) for _ in range(epochs)]


def tosses(epochs: int) -> Draw:
    """Return samples of which each is right with a chance of its own, the same in both runs."""

    def draw(generator: random.Random) -> tuple[list[float], list[float]]:
        chance = generator.betavariate(0.3, 0.3)
        return trials(generator, chance, epochs), trials(generator, chance, epochs)

    return draw


def formula(generator: random.Random) -> float:
    """Return an EED: half are right, a fifth worthless, others in between."""
    kind = generator.random()
    return 100.0 if kind < 0.5 else 0.0 if kind < 0.7 else generator.uniform(0, 60)


def formulas(generator: random.Random) -> tuple[list[float], list[float]]:
    return [formula(generator)], [formula(generator)]


def mostly_repeated(generator: random.Random) -> tuple[list[float], list[float]]:
    before = formula(generator)
    return [before], [formula(generator) if generator.random() < 0.2 else before]


@pytest.mark.parametrize(
    ("draw", "scale"),
    [
        pytest.param(tosses(2), 1.0, id="2 epochs"),
        pytest.param(tosses(5), 1.0, id="5 epochs"),
        pytest.param(formulas, 100.0, id="EED"),
        pytest.param(mostly_repeated, 100.0, id="EED, most repeated"),
    ],
)
@pytest.mark.parametrize("n", [10, 40])
def test_runs_without_a_true_difference_are_rarely_called_different(
    draw: Draw, scale: float, n: int
) -> None:
    above, below = false_rates(draw, n, 0.0, scale)
    assert above <= MOST
    assert below <= MOST


def lost_samples(epochs: int, drop: float) -> Draw:
    """Return samples of which a share `drop` is lost for good; the others are as before."""

    def draw(generator: random.Random) -> tuple[list[float], list[float]]:
        lost, chance = generator.random() < drop, generator.betavariate(0.1, 0.1)
        if lost:
            return [1.0] * epochs, [0.0] * epochs
        return trials(generator, chance, epochs), trials(generator, chance, epochs)

    return draw


def rarer_successes(epochs: int, drop: float) -> Draw:
    """Return samples of which each is right less often, by `drop`."""
    return lambda generator: (
        trials(generator, 0.9, epochs),
        trials(generator, 0.9 - drop, epochs),
    )


def fallen_formulas(generator: random.Random) -> tuple[list[float], list[float]]:
    """Return EEDs of which 5 % fall from 100 to 0, and the others hardly move."""
    if generator.random() < 0.05:
        return [100.0], [0.0]
    before = generator.uniform(10, 90)
    return [before], [before + generator.uniform(-5, 5)]


@pytest.mark.parametrize(
    ("draw", "scale"),
    [
        pytest.param(lost_samples(2, 0.05), 1.0, id="2 epochs, samples lost"),
        pytest.param(lost_samples(4, 0.05), 1.0, id="4 epochs, samples lost"),
        pytest.param(rarer_successes(3, 0.05), 1.0, id="3 epochs, all a little worse"),
        pytest.param(fallen_formulas, 100.0, id="EED"),
    ],
)
@pytest.mark.parametrize("n", [10, 80])
def test_with_epochs_and_scores_too_the_allowed_drop_passes_rarely(
    draw: Draw, scale: float, n: int
) -> None:
    assert false_rates(draw, n, -0.05 * scale, scale)[0] <= MOST


def test_a_share_is_let_pass_by_its_minimum_about_as_rarely() -> None:
    def most(bounds: Iterable[float]) -> float:
        chance: Callable[[int, float, float], float] = SCRIPT["passes_minimum"]
        return max(chance(n, low, low) for n in (20, 48, 100) for low in bounds)

    assert most((0.3, 0.5, 0.7, 0.9)) <= 0.035
    # Wilson's interval is known to be short where few are right.
    assert most((0.1,)) <= 0.05
