from __future__ import annotations

import random
from typing import Any

import pytest
from example_rows import eed, row
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pytest_llmeval.records import Outcome, Row, Score
from pytest_llmeval.results.compare import Comparison, Pair, compare
from pytest_llmeval.results.paired import difference_of_outcomes
from pytest_llmeval.results.targets import target_digest


def run(outcomes: str, model: str = "openai/small", **fields: Any) -> list[Row]:
    """Return a row for each letter: c correct, i incorrect, e error, - not run.

    Samples are numbered from 0.
    """
    words: dict[str, Outcome] = {"c": "correct", "i": "incorrect", "e": "error", "-": "not run"}
    return [
        row(
            str(place),
            words[letter],
            model=model,
            scores=eed(100 if letter == "c" else 20),
            **fields,
        )
        for place, letter in enumerate(outcomes)
    ]


def only_pair(comparison: Comparison) -> Pair:
    [pair] = comparison.pairs
    return pair


def test_only_samples_that_both_scored_are_compared() -> None:
    pair = only_pair(compare(run("ccie-c"), run("ciccci")))
    assert pair.n == 4
    assert (pair.only_a, pair.only_b) == (0, 2)
    accuracy = pair.changes[0]
    assert (accuracy.a, accuracy.b, accuracy.difference, accuracy.n) == (0.75, 0.5, -0.25, 4)


def p_of(gained: int, lost: int, n: int) -> float:
    return difference_of_outcomes(gained, lost, n).p_value()


def test_flips_are_named_and_tested() -> None:
    pair = only_pair(compare(run("cccciiii"), run("ccciicci")))
    assert (pair.gained, pair.lost) == (("5", "6"), ("3",))
    assert pair.changes[0].p_value == pytest.approx(p_of(2, 1, 8))


def _tenfold(rows: list[Row]) -> list[Row]:
    return [replace(one, sample=f"{one.sample}-{copy}") for one in rows for copy in range(10)]


def test_scores_are_compared_in_pairs_with_an_interval() -> None:
    generator = random.Random(1)
    values = [generator.uniform(0, 40) for _ in range(40)]
    before = [row(str(i), "incorrect", scores=eed(value)) for i, value in enumerate(values)]
    after = [
        row(str(i), "incorrect", scores=eed(value + 5 + i % 3)) for i, value in enumerate(values)
    ]
    change = only_pair(compare(before, after)).changes[1]
    # 5 and the mean of 0, 1, 2 over 40 samples: 13 full cycles and one 0 are 39 / 40.
    assert (change.name, change.scale, change.n) == ("EED", 100.0, 40)
    assert change.difference == pytest.approx(5 + 39 / 40)
    # No sample fell, but a few of all samples may: 1 in 14 that falls by 100 points would make up
    # for it, and 40 samples miss all such ones with a chance of 5 %.
    assert -4 < change.low < 0 < change.difference < change.high < 15
    assert change.p_value > 0.05
    many = only_pair(compare(*(_tenfold(rows) for rows in (before, after)))).changes[1]
    assert 3 < many.low < many.high < 9
    assert many.p_value < 0.001


def test_a_run_does_not_differ_from_itself() -> None:
    pair = only_pair(compare(run("ccii"), run("ccii")))
    assert (pair.gained, pair.lost, pair.versions) == ((), (), {})
    assert all(
        (change.difference, change.p_value, change.adjusted) == (0, 1, 1) for change in pair.changes
    )


def test_p_values_are_adjusted_for_all_changes_together() -> None:
    accuracy, score = only_pair(compare(run("iiiiiiiiic"), run("cccccccccc"))).changes
    assert accuracy.p_value == pytest.approx(p_of(9, 0, 10))
    first, second = sorted((accuracy, score), key=lambda change: change.p_value)
    assert first.adjusted == pytest.approx(2 * first.p_value)
    assert second.adjusted == pytest.approx(max(2 * first.p_value, second.p_value))


def test_a_score_that_is_called_accuracy_too_is_adjusted_by_its_own_p_value() -> None:
    def scored(letters: str, *values: float) -> list[Row]:
        named = [(Score(name="accuracy", value=value, correct=None),) for value in values]
        return [
            replace(one, scores=scores) for one, scores in zip(run(letters), named, strict=True)
        ]

    pair = only_pair(compare(scored("cccccccc", *[0.5] * 8), scored("iiiiiiic", *[0.4, 0.6] * 4)))
    accuracy, score = pair.changes
    assert accuracy.p_value == pytest.approx(p_of(0, 7, 8))
    assert accuracy.adjusted == 2 * accuracy.p_value
    assert score.adjusted == score.p_value


def test_a_score_that_repeats_the_outcome_is_no_second_change() -> None:
    def judged(outcomes: str) -> list[Row]:
        words: dict[str, Outcome] = {"c": "correct", "i": "incorrect"}
        scores = {
            letter: (Score(name="judge", value=float(letter == "c"), correct=letter == "c"),)
            for letter in "ci"
        }
        return [
            row(str(i), words[letter], scores=scores[letter]) for i, letter in enumerate(outcomes)
        ]

    [only] = only_pair(compare(judged("ccii"), judged("cici"))).changes
    assert only.name == "accuracy"


def test_two_single_models_are_paired_and_of_several_only_the_common_ones() -> None:
    pair = only_pair(compare(run("ci", "old"), run("cc", "new")))
    assert (pair.model_a, pair.model_b) == ("old", "new")
    several = compare([*run("ci", "x"), *run("ci", "y")], [*run("ci", "y"), *run("ci", "z")])
    assert [(one.model_a, one.model_b) for one in several.pairs] == [("y", "y")]
    assert [model for _, _, model in several.unpaired] == ["x", "z"]


def test_a_task_that_one_run_lacks_is_named() -> None:
    comparison = compare(run("ci"), [*run("ci"), row("1", task="other")])
    assert len(comparison.pairs) == 1
    assert [task for task, _, _ in comparison.unpaired] == ["other"]


def test_a_sample_whose_target_changed_is_left_out() -> None:
    pair = only_pair(
        compare(run("cc", target="4"), [*run("c", target="4"), row("1", "incorrect", target="5")])
    )
    assert (pair.n, pair.retargeted, pair.lost) == (1, 1, ())


def test_runs_without_a_common_sample_have_no_changes() -> None:
    pair = only_pair(compare([row("1")], [row("2")]))
    assert (pair.n, pair.changes, pair.only_a, pair.only_b) == (0, (), 1, 1)


def test_versions_that_differ_are_told() -> None:
    a, b = (
        run("cc", versions={"prompt": "ab", "task": 1}),
        run("cc", versions={"prompt": "cd", "task": 1}),
    )
    assert only_pair(compare(a, b)).versions == {"prompt": ("ab", "cd")}


def test_epochs_count_by_sample() -> None:
    a = [
        row("1", "correct", epoch=1),
        row("1", "incorrect", epoch=2),
        row("2", epoch=1),
        row("2", epoch=2),
    ]
    b = [
        row("1", "correct", epoch=1),
        row("1", "correct", epoch=2),
        row("2", epoch=1),
        row("2", "incorrect", epoch=2),
    ]
    pair = only_pair(compare(a, b))
    assert (pair.n, pair.gained, pair.lost) == (2, ("1",), ("2",))
    assert (pair.changes[0].a, pair.changes[0].b) == (0.75, 0.75)
    assert pair.changes[0].p_value == 1.0
    assert pair.changes[0].low == pytest.approx(-pair.changes[0].high)


def test_the_order_of_rows_changes_nothing() -> None:
    a, b = run("cicicc"), run("ccciii")
    assert compare(a[::-1], b[::-1]) == compare(a, b)


def test_a_difference_is_told_with_its_effect_and_what_so_many_samples_would_show() -> None:
    accuracy = only_pair(compare(run("cccccciiiiii"), run("cccciicccccc"))).changes[0]
    # Differences: 2 of -1, 6 of +1, 4 of 0; mean 1/3; s^2 = (8 - 12/9) / 11; d_z = (1/3) / 0.77850
    # = 0.42817.
    assert accuracy.effect == pytest.approx(0.42817, abs=1e-5)
    # (1.95996 + 0.84162) * 0.77850 / sqrt(12) = 0.62961, more than the 6 of 12 that must flip.
    assert accuracy.smallest == pytest.approx(0.62961, abs=1e-5)
    alike = only_pair(compare(run("c" * 12), run("c" * 12))).changes[0]
    assert (alike.effect, alike.smallest) == (None, 0.5)
    assert only_pair(compare(run("ccccc"), run("ccccc"))).changes[0].smallest is None


def test_targets_are_compared_by_digest_so_that_a_baseline_need_not_hold_them() -> None:
    kept = run("cc", target=target_digest("4"))
    assert only_pair(compare(kept, run("cc", target="4"))).retargeted == 0
    assert only_pair(compare(kept, run("cc", target="5"))).retargeted == 2


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.text("ci", min_size=12, max_size=12), min_size=2, max_size=6),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
)
def test_intervals_and_p_values_agree_by_themselves_and_after_holm(
    outcomes: list[str], confidence: float
) -> None:
    def rows(side: int) -> list[Row]:
        half = len(outcomes) // 2
        return [
            replace(one, task=f"task {number}")
            for number, letters in enumerate(outcomes[side * half : (side + 1) * half])
            for one in run(letters)
        ]

    found = compare(rows(0), rows(1), confidence=confidence)
    changes = [change for pair in found.pairs for change in pair.changes]
    assert {change.together for change in changes} == {len(changes)}
    for change in changes:
        alone, among_all = change.interval, change.adjusted_interval
        assert among_all is not None
        assert change.differs == (alone.low > 0 or alone.high < 0)
        assert change.differs_among_all == (among_all.low > 0 or among_all.high < 0)
        # So the adjusted one holds the truth at least as often.
        assert among_all.low <= alone.low <= alone.high <= among_all.high


def test_an_adjusted_interval_is_that_of_the_level_that_holm_asks_for() -> None:
    # p 9 to 0 of 10 is the smallest of two, and is doubled: so its interval is that of 97.5 %.
    accuracy, score = only_pair(compare(run("iiiiiiiiic"), run("cccccccccc"))).changes
    first = min((accuracy, score), key=lambda change: change.p_value)
    assert first.adjusted_interval == first.samples.interval(0.975)


def test_a_p_value_too_small_for_a_number_has_an_adjusted_interval_too() -> None:
    change = only_pair(compare(run("i" * 3_000), run("c" * 3_000))).changes[0]
    assert change.p_value == change.adjusted == 0
    assert change.adjusted_interval == change.samples.interval(0.975)
