"""Which answers are chosen for labelling, and why."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

import pytest
from example_rows import row
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.records import Json, Outcome, Row, Score
from pytest_llmeval.results.answer_labels import AnswerLabel, DrawnLabels
from pytest_llmeval.results.label_choice import choose
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.results.uncertainty import ORDER, Uncertainty

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

rows_of = st.lists(
    st.tuples(
        st.integers(0, 9),  # sample
        st.integers(1, 4),  # epoch
        st.sampled_from(["openai/a", "openai/b"]),
        st.sampled_from(OUTCOMES),
        st.sampled_from(["1", "2", None]),  # answer
    ),
    unique_by=lambda one: one[:3],
    max_size=40,
).map(
    lambda found: [
        row(str(sample), outcome, epoch=epoch, model=model, answer=answer)
        for sample, epoch, model, outcome, answer in found
    ]
)


@given(rows_of, st.integers(1, 30), st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_each_drawn_row_enters_once_and_each_answer_is_labelled_once(
    rows: list[Row], count: int, seed: int
) -> None:
    chosen = choose(rows, count=count, seed=seed)
    units = [(one.row.sample, answer_digest(one.row.answer)) for one in chosen]
    assert len(units) == len(set(units))
    assert all(bool(one.drawn) == (one.part == "random") for one in chosen)
    labels = DrawnLabels(
        AnswerLabel(
            task=one.row.task,
            sample=one.row.sample,
            answer=answer_digest(one.row.answer),
            drawn=tuple(one.drawn),
            correct={"": True},
        )
        for one in chosen
    )
    for model in ("openai/a", "openai/b"):
        answered = [
            one
            for one in rows
            if one.model == model
            and (one.outcome in {"correct", "incorrect", "unscored"} or one.stop_reason)
        ]
        drawn = [name for one in chosen for name in one.drawn if name.model == model]
        assert len(drawn) == min(-(-2 * count // 3), len(answered))
        # Labels come back to the drawn rows that were scored, and to no others.
        scored = [one for one in answered if one.outcome != "unscored"]
        found = labels.of(scored)
        assert sum(map(len, found.values())) <= len(drawn)


def test_every_answer_is_drawn_with_the_same_chance() -> None:
    rows = [row(str(number), "correct" if number % 3 else "unscored") for number in range(12)]
    counts: Counter[str] = Counter()
    for seed in range(600):
        counts.update(one.row.sample for one in choose(rows, count=6, seed=seed) if one.drawn)
    # 4 of 12 are drawn: 200 expected each, standard deviation 11.5.
    assert set(counts) == {str(number) for number in range(12)}
    assert max(abs(count - 200) for count in counts.values()) < 5 * 11.5


def scored(value: float | None, *, correct: bool | None, scale: float = 1.0, **details: Any) -> Row:
    score = Score(name="s", value=value, scale=scale, correct=correct, details=details)
    outcomes: dict[bool | None, Outcome] = {True: "correct", False: "incorrect", None: "unscored"}
    return row("1", outcomes[correct], scores=(score,))


def opinion(*, correct: bool | None, votes: list[bool | None]) -> dict[str, Json]:
    return {"judge": "a", "correct": correct, "reason": "", "votes": [*votes], "wanted": 3}


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (scored(None, correct=None), "no verdict"),
        (
            scored(
                1.0,
                correct=True,
                opinions=[opinion(correct=True, votes=[]), opinion(correct=False, votes=[])],
            ),
            "judges disagree",
        ),
        (
            scored(1.0, correct=True, opinions=[opinion(correct=True, votes=[True, False, True])]),
            "votes differ",
        ),
        (scored(1.0, correct=True, opinions=[opinion(correct=True, votes=[True, True])]), ""),
        (scored(0.0, correct=False), ""),
    ],
)
def test_an_answer_is_uncertain_for_what_its_judges_said(one: Row, reason: str) -> None:
    assert Uncertainty([one]).reason(one) == reason
    assert reason in {*ORDER, ""}


def test_a_rating_at_the_bar_is_uncertain() -> None:
    ratings = [scored(value, correct=value >= 7, scale=10.0) for value in (1.0, 4.0, 6.0, 7.0, 9.0)]
    uncertainty = Uncertainty(ratings)
    found = {one.scores[0].value: uncertainty.reason(one) for one in ratings}
    assert found == {1.0: "", 4.0: "", 6.0: "near the bar", 7.0: "near the bar", 9.0: ""}
