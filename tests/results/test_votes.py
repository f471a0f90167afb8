"""maj@k: votes among the answers of one sample, counted by a scorer's equality."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from example_rows import row
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.records import Row, Score
from pytest_llmeval.results.declared_metrics import check_metrics, declared_metrics
from pytest_llmeval.results.metric import maj_at
from pytest_llmeval.results.statistics import majority_at_k
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import MetricEntry, ScoreInfo, TaskInfo
from pytest_llmeval.results.votes import vote_counts
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.number import Number
from pytest_llmeval.scoring.votes import same_answer

UNTIMED = settings(deadline=None)
"""For busy machines."""

BY_TEXT = same_answer(None)
BY_VALUE = same_answer(Number())

GROUPS = st.lists(
    st.integers(1, 4).flatmap(lambda votes: st.tuples(st.just(votes), st.integers(0, votes))),
    max_size=4,
).map(tuple)
"""Groups of equal answers: epochs, and correct ones among them."""

ANSWERS = st.lists(st.sampled_from(["1", "1.0", "2/2", "2", "2.00", "3", "", None]), min_size=1)
"""Answers of one sample, of which some are one number written in several ways."""


def voted(sample: str, *answers: str | None, target: str = "1") -> list[Row]:
    """Return the epochs of a sample, scored by value."""
    return [
        row(
            sample,
            "correct" if answer and BY_VALUE(answer, target, target) else "incorrect",
            epoch=epoch,
            answer=answer,
            target=target,
        )
        for epoch, answer in enumerate(answers, 1)
    ]


def majority(rows: Sequence[Row], k: int) -> float | None:
    [found] = maj_at(rows, k, same=BY_VALUE)
    return found.value


def of_every_draw(groups: Sequence[tuple[int, int]], abstained: int, k: int) -> Fraction:
    """Return maj@k by looking at every draw of k epochs."""
    epochs: list[int | None] = [None] * abstained
    epochs += [number for number, (votes, _) in enumerate(groups) for _ in range(votes)]
    credit = Fraction(0)
    for draw in itertools.combinations(epochs, k):
        votes = Counter(one for one in draw if one is not None)
        first = [one for one, count in votes.items() if count == max(votes.values())]
        shares = [Fraction(groups[one][1], groups[one][0]) for one in first]
        credit += sum(shares, Fraction(0)) / max(1, len(shares))
    return credit / math.comb(len(epochs), k)


@UNTIMED
@given(GROUPS, st.integers(0, 3), st.data())
def test_it_is_the_mean_over_all_draws_of_k_epochs(
    groups: tuple[tuple[int, int], ...], abstained: int, data: st.DataObject
) -> None:
    epochs = abstained + sum(votes for votes, _ in groups)
    k = data.draw(st.integers(1, epochs)) if epochs else 0
    expected = of_every_draw(groups, abstained, k)
    assert majority_at_k(groups, abstained, k) == pytest.approx(float(expected), abs=1e-12)


def test_known_values_by_hand() -> None:
    # 3 of 5 right, wrong ones alike. k = 3 of 5 in 10 draws: 2 or 3 right ones in 6 + 1 of them.
    rows = voted("1", "1", "1", "1", "2", "2")
    assert majority(rows, 3) == pytest.approx(7 / 10)
    assert majority(rows, 5) == 1.0
    # A tie counts by halves; among three different answers by thirds.
    assert majority(voted("1", "1", "2"), 2) == 0.5
    assert majority(voted("1", "1", "2", "3"), 3) == pytest.approx(1 / 3)
    # Who gives no answer gives no vote, and nothing but blanks is none.
    assert majority(voted("1", None, None, "", " ", "1"), 5) == 1.0
    assert majority(voted("1", None, None), 2) == 0.0


def test_two_ways_to_write_one_number_are_one_vote_by_value_and_two_by_text() -> None:
    rows = voted("1", "0.5", "1/2", "50e-2", "2", "2", target="0.5")
    [by_value] = maj_at(rows, 5, same=BY_VALUE)
    [by_text] = maj_at(rows, 5, same=BY_TEXT)
    assert (by_value.value, by_text.value) == (1.0, 0.0)
    assert vote_counts(rows, BY_VALUE).groups == ((3, 3), (2, 0))


@UNTIMED
@given(ANSWERS, st.randoms(use_true_random=False))
def test_neither_the_order_of_epochs_nor_how_a_number_is_written_makes_a_difference(
    answers: list[str | None], chance: random.Random
) -> None:
    rows, shuffled = voted("1", *answers), voted("1", *chance.sample(answers, len(answers)))
    plain = {"1.0": "1", "2/2": "1", "2.00": "2"}
    rewritten = voted("1", *(plain.get(one or "", one) for one in answers))
    for k in (1, len(answers)):
        assert majority(rows, k) == pytest.approx(majority(shuffled, k))
        assert majority(rows, k) == pytest.approx(majority(rewritten, k))


@UNTIMED
@given(ANSWERS)
def test_of_one_epoch_it_is_the_accuracy_and_of_two_the_same_without_gaps(
    answers: list[str | None],
) -> None:
    rows = voted("1", *answers)
    right = sum(one.outcome == "correct" for one in rows) / len(rows)
    assert majority(rows, 1) == pytest.approx(right)
    if len(rows) > 1 and all(answers):
        assert majority(rows, 2) == pytest.approx(right)


@UNTIMED
@given(ANSWERS, st.data())
def test_one_more_right_answer_never_lowers_it(
    answers: list[str | None], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(answers) - 1))
    better = [*answers[:place], "1", *answers[place + 1 :]]
    k = data.draw(st.integers(1, len(answers)))
    now, then = majority(voted("1", *better), k), majority(voted("1", *answers), k)
    assert now is not None
    assert then is not None
    assert now >= then - 1e-12


def test_samples_with_fewer_epochs_are_left_out_and_counted() -> None:
    rows = [*voted("1", "1", "1", "2"), *voted("2", "2", "1"), *voted("3", "1")]
    one, two, three = maj_at(rows, [1, 2, 3], same=BY_VALUE)
    assert (one.name, one.n, one.left_out) == ("maj@1", 3, 0)
    assert one.value == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert (two.n, two.left_out) == (2, 1)
    assert (three.value, three.n, three.left_out, three.share) == (1.0, 1, 2, True)


def test_tolerance_makes_groups_that_do_not_depend_on_the_order_of_epochs() -> None:
    near = same_answer(Number(absolute=0.1))
    answers = ["1.0", "1.1", "1.1", "1.2", "1.3"]
    counts = {
        vote_counts(voted("1", *order), near).groups for order in itertools.permutations(answers)
    }
    # The most frequent text, 1.1, takes in 1.0 and 1.2.
    assert counts == {((4, 1), (1, 0))}


INFO = TaskInfo(
    title="demo",
    metrics=({"maj_at": 3},),
    scores=(ScoreInfo(name="number", scorer="number", options={"absolute": 0.01}),),
)
SCORED = [
    row(
        "1",
        "correct" if right else "incorrect",
        epoch=epoch,
        answer=answer,
        target="0.5",
        scores=(
            Score(
                name="number",
                value=right,
                correct=bool(right),
                grader=grader_text(Number(absolute=0.01)),
            ),
        ),
    )
    for epoch, (answer, right) in enumerate([("1/2", 1), ("0.501", 1), ("2", 0)], 1)
]


def test_a_stored_run_is_counted_by_the_scorer_that_its_task_named() -> None:
    [entry] = summarise(SCORED, {"demo": INFO}).entries
    [found] = entry.figures.metrics
    assert (found.name, found.value, found.n) == ("maj@3", 1.0, 1)


@pytest.mark.parametrize(
    "score",
    [
        ScoreInfo(name="number", scorer="./mine.py:number"),
        ScoreInfo(name="number", scorer="absent"),
        ScoreInfo(name="number", scorer="number", options={"absolute": "wide"}),
        ScoreInfo(name="number"),
        ScoreInfo(name="number", scorer="exact"),
        ScoreInfo(name="number", scorer="number", options={"absolute": 0.1}),
    ],
    ids=["a file", "unknown", "no options", "an earlier version", "other rules", "other options"],
)
def test_a_stored_run_whose_scorer_is_not_to_be_had_is_not_counted_by_text_instead(
    score: ScoreInfo,
) -> None:
    info = TaskInfo(title="demo", metrics=INFO.metrics, scores=(score,))
    [entry] = summarise(SCORED, {"demo": info}).entries
    assert entry.figures.metrics == ()


def test_a_scorer_that_fails_costs_the_figure_and_no_other() -> None:
    def broken(*_: object) -> bool:
        msg = "no way"
        raise RuntimeError(msg)

    [metric] = declared_metrics([{"maj_at": 2}], equality=lambda: broken)
    [found] = metric.values(SCORED, (), ())
    assert (found.value, found.problem) == (
        None,
        "RuntimeError: no way (test_votes.py, line 221, in broken)",
    )


def test_a_metric_of_ones_own_may_compare_answers_too(tmp_path: Path) -> None:
    (tmp_path / "metrics.py").write_text(
        "def agreement(rows, *, same, least: int = 1):\n"
        "    pairs = [(a, b) for a in rows for b in rows if a.epoch < b.epoch]\n"
        "    return sum(same(a.answer, b.answer, a.target) for a, b in pairs) / len(pairs)\n"
    )
    entries: list[MetricEntry] = [{"./metrics.py:agreement": {"least": 2}}]
    check_metrics(entries, tmp_path)
    [metric] = declared_metrics(entries, tmp_path, lambda: BY_VALUE)
    [found] = metric.values(voted("1", "1", "1.0", "2"), (), ())
    assert found.value == pytest.approx(1 / 3)
