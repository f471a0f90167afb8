"""Several verdicts amount to what more than half say, or to the mean of the ratings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Reply, Verdict
from pytest_llmeval.scoring.judge import Ballot, VerdictScale
from pytest_llmeval.scoring.judge.label_scale import LabelScale
from pytest_llmeval.scoring.judge.rating_scale import RatingScale
from pytest_llmeval.scoring.judge.rubric import Rubric
from pytest_llmeval.scoring.judge.scale import Scale

RATING = RatingScale(low=0, high=10, minimum=7)
LABELS = LabelScale(labels=("a", "b", "c"), correct=("a", "b"))
CRITERIA = (("one", "Is it?"), ("two", "Is it too?"))
SCALES: tuple[Scale, ...] = (
    VerdictScale(),
    RATING,
    LABELS,
    Rubric(wanted=CRITERIA, scale=RATING),
    Rubric(wanted=CRITERIA, scale=VerdictScale()),
)
RATINGS = st.lists(st.one_of(st.none(), st.integers(0, 10)), min_size=1, max_size=7)


def rated(values: Sequence[int | None]) -> list[Verdict | None]:
    return [None if one is None else reading(RATING, rating=one) for one in values]


def reading(scale: Scale, **found: object) -> Verdict:
    verdict = scale.read(json.dumps({"reason": f"as {found}", **found}))
    assert verdict is not None
    return verdict


def verdicts(scale: Scale) -> st.SearchStrategy[Verdict | None]:
    """Return verdicts of a scale, and None for one that is lost."""
    schemas: Any = scale.properties
    keys = {key: st.sampled_from(schemas[key]["enum"]) for key in schemas if key != "reason"}
    found = st.fixed_dictionaries(keys).map(lambda values: reading(scale, **values))
    return st.one_of(st.none(), found)


@given(RATINGS)
def test_ratings_amount_to_the_mean_of_the_usable_ones(values: list[int | None]) -> None:
    found, usable = RATING.combined(rated(values)), [one for one in values if one is not None]
    if not usable:
        assert found is None
        return
    assert found is not None
    exact = Fraction(sum(usable), len(usable))
    assert found.value == pytest.approx(float(exact))
    assert found.correct is (exact >= 7)


@given(st.lists(RATINGS, min_size=1, max_size=4))
def test_the_mean_of_the_judges_is_correct_exactly_from_the_minimum_on(
    votes: list[list[int | None]],
) -> None:
    judges = [RATING.combined(rated(one)) for one in votes]
    found = RATING.combined(judges)
    usable = [[one for one in judge if one is not None] for judge in votes]
    means = [Fraction(sum(one), len(one)) for one in usable if one]
    assert (found is None) is (not means)
    if found is not None:
        assert found.correct is (sum(means) / len(means) >= 7)


def test_three_thirds_are_whole_also_in_floating_point() -> None:
    third = [rated(one) for one in ([7, 7, 6], [7, 7, 8], [7, 7, 7])]
    found = RATING.combined([RATING.combined(one) for one in third])
    assert found is not None
    assert found.correct


@given(st.lists(verdicts(LABELS), min_size=1, max_size=7))
def test_a_label_wins_with_more_than_half_of_all(given_verdicts: list[Verdict | None]) -> None:
    found = LABELS.combined(given_verdicts)
    counts = Counter(one.label for one in given_verdicts if one)
    winners = [label for label, n in counts.items() if n * 2 > len(given_verdicts)]
    assert ([found.label] if found else []) == winners
    if found:
        assert found.correct is (found.label in LABELS.correct)


def test_two_correct_labels_do_not_win_together() -> None:
    split = [reading(LABELS, label="a"), reading(LABELS, label="b")]
    assert LABELS.combined(split) is None


def test_a_rubric_has_the_mean_of_each_criterion() -> None:
    rubric = Rubric(wanted=CRITERIA, scale=RATING)
    found = rubric.combined([reading(rubric, one=9, two=6), reading(rubric, one=8, two=3), None])
    assert found is not None
    assert dict(found.criteria) == {"one": 8.5, "two": 4.5}
    assert (found.value, found.correct) == (6.5, False)


def test_of_verdicts_on_criteria_more_than_half_must_find_that_all_hold() -> None:
    rubric = Rubric(wanted=CRITERIA, scale=VerdictScale())
    all_hold, one_holds = reading(rubric, one=1, two=1), reading(rubric, one=1, two=0)
    found = rubric.combined([all_hold, one_holds, all_hold])
    assert found is not None
    assert found.correct
    assert found.criteria["two"] == pytest.approx(2 / 3)
    assert rubric.combined([all_hold, one_holds]) is None


CASES = st.sampled_from(SCALES).flatmap(
    lambda scale: st.tuples(st.just(scale), st.lists(verdicts(scale), min_size=1, max_size=5))
)


@given(CASES, st.data())
def test_the_order_of_verdicts_changes_only_whose_reason_is_told(
    case: tuple[Scale, list[Verdict | None]], data: st.DataObject
) -> None:
    scale, found = case
    one = scale.combined(found)
    other = scale.combined(data.draw(st.permutations(found)))
    assert (one is None) is (other is None)
    if one and other:
        assert (one.correct, one.label) == (other.correct, other.label)
        assert one.value == (None if other.value is None else pytest.approx(other.value))


@given(CASES)
def test_stopping_early_changes_no_result_on_any_scale(
    case: tuple[Scale, list[Verdict | None]],
) -> None:
    scale, found = case

    def cast(*, stop_early: bool) -> Ballot:
        ballot = Ballot(scale=scale, votes=len(found), retries=0, stop_early=stop_early)
        while (draw := ballot.next_draw()) is not None:
            ballot.record(draw, Reply(text=said(scale, found[draw])))
        return ballot

    early, whole = cast(stop_early=True), cast(stop_early=False)
    assert early.result == whole.result == scale.combined(found)
    assert len(early.decisions) <= len(whole.decisions) == len(found)


def said(scale: Scale, verdict: Verdict | None) -> str:
    """Return the reply that gives a verdict."""
    if verdict is None:
        return "who knows"
    single: dict[str, object] = {
        "answer_correct": int(bool(verdict.correct)),
        "rating": None if verdict.value is None else int(verdict.value),
        "label": verdict.label,
    }
    values = {name: int(value) for name, value in verdict.criteria.items()}
    known = {**single, **values, "reason": verdict.reason}
    return json.dumps({key: known[key] for key in scale.properties})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: RatingScale(low=1, high=1, minimum=1), "worst and the best rating"),
        (lambda: RatingScale(low=5, high=1, minimum=1), "worst and the best rating"),
        (lambda: RatingScale(low=-1, high=1, minimum=1), "worst and the best rating"),
        (lambda: RatingScale(low=0, high=101, minimum=1), "at most 100 apart"),
        (lambda: RatingScale(low=1, high=10, minimum=0), "must lie in the scale"),
        (lambda: LabelScale(labels=("a",), correct=("a",)), "at least two"),
        (lambda: LabelScale(labels=("a", "a", "b"), correct=("a",)), "each once"),
        (lambda: LabelScale(labels=("a", " "), correct=("a",)), "blank"),
        (lambda: LabelScale(labels=("a", "b"), correct=("c",)), "'c', which is no label"),
        (lambda: LabelScale(labels=("a", "b"), correct=()), "at least one, and not all"),
        (lambda: LabelScale(labels=("a", "b"), correct=("a", "b")), "at least one, and not all"),
        (lambda: Rubric(wanted=(("a b", "x"),), scale=RATING), "'a b' cannot be the name"),
        (lambda: Rubric(wanted=(("reason", "x"),), scale=RATING), "'reason' cannot be the name"),
        (lambda: Rubric(wanted=(("a", " "),), scale=RATING), "'a' says nothing"),
    ],
)
def test_a_scale_that_could_not_decide_is_refused_with_the_fix(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=says):
        make()
