"""Agreement figures against values worked out by hand."""

from __future__ import annotations

import pytest

from pytest_llmeval.scoring.judge import JudgedCase, case_agreement
from pytest_llmeval.scoring.judge.agreement import cohen_kappa, fleiss_kappa


def cases(kind: str, **counts: int) -> list[JudgedCase]:
    """Return cases by their pair of label and verdict, such as ``yes_no=5`` (open: unscored)."""
    said = {"yes": True, "no": False, "open": None}
    pairs = {name: name.split("_") for name in counts}
    return [
        JudgedCase(kind=kind, label=label == "yes", verdict=said[verdict])
        for name, (label, verdict) in pairs.items()
        for _ in range(counts[name])
    ]


def test_rates_are_taken_over_the_cases_they_speak_of() -> None:
    result = case_agreement(cases("a", yes_yes=20, yes_no=5, no_yes=10, no_no=15, yes_open=2))
    assert (result.n, result.unscored) == (52, 2)
    assert (result.false_positives, result.false_negatives) == (10, 5)
    assert result.accuracy == 35 / 50
    assert result.false_positive_rate == 10 / 25
    assert result.false_negative_rate == 5 / 25
    # observed 35/50 = 0.7; chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5; (0.7 - 0.5) / (1 - 0.5) =
    # 0.4
    assert result.cohen == pytest.approx(0.4)


def test_without_a_wrong_answer_there_is_no_rate_of_letting_one_pass() -> None:
    assert case_agreement(cases("injection", no_no=3, no_yes=1)).false_positive_rate == 0.25
    assert case_agreement(cases("units", yes_yes=2)).false_positive_rate is None


@pytest.mark.parametrize("found", [{"yes_yes": 9, "yes_no": 1}, {"no_no": 3, "no_yes": 1}])
def test_cases_of_one_label_have_no_kappa(found: dict[str, int]) -> None:
    # Cohen's formula says 0 here, however good the judge is.
    assert case_agreement(cases("injection", **found)).cohen is None


def test_no_cases_have_no_rates() -> None:
    result = case_agreement([])
    assert result.n == 0
    assert [result.accuracy, result.cohen, result.fleiss, result.false_positive_rate] == [None] * 4


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([(True, True), (False, False)], 1.0),
        ([(True, False), (False, True)], -1.0),
        ([(True, True), (True, False), (False, True), (False, False)], 0.0),
        ([(True, True)] * 5, None),  # always yes: chance alone agrees
        ([], None),
    ],
)
def test_cohens_kappa_is_agreement_beyond_chance(
    pairs: list[tuple[bool, bool]], kappa: float | None
) -> None:
    assert cohen_kappa(pairs) == kappa


def test_fleiss_kappa_of_the_paper() -> None:
    # Fleiss 1971, the example as told in textbooks: 14 raters, 10 cases, 5 categories; kappa 0.210
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=0.0005)


@pytest.mark.parametrize(
    "counts", [[[1, 0]], [[2, 0], [2, 1]]], ids=["one rater", "unequal raters"]
)
def test_fleiss_kappa_needs_equal_numbers_of_raters(counts: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="same number of raters"):
        fleiss_kappa(counts)


def voted(*votes: bool | None) -> JudgedCase:
    """Return a case with these votes."""
    return JudgedCase(kind="a", label=True, verdict=True, votes=votes)


def test_votes_are_compared_with_each_other() -> None:
    # pairs of raters in agreement: case 1 all three of 3, case 2 one of 3; shares 4/6 and 2/6
    # observed (1 + 1/3) / 2 = 2/3; chance 4/9 * 1 + 1/9 = 5/9; (6/9 - 5/9) / (4/9) = 1/4
    found = case_agreement([voted(True, True, True), voted(True, False, False)])
    assert found.fleiss == pytest.approx(0.25)


def test_cases_with_a_lost_vote_are_left_out() -> None:
    kept = [voted(True, True), voted(False, False)]
    assert case_agreement([*kept, voted(True, None)]).fleiss == case_agreement(kept).fleiss == 1.0


def test_votes_that_were_stopped_early_have_no_agreement() -> None:
    assert case_agreement([voted(True, True), voted(True, False, True)]).fleiss is None
