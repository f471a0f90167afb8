"""Symbols are numbered by their positions, whatever their names."""

from __future__ import annotations

import pytest

from pytest_llmeval.scoring.eed.metric.numbering import symbol_numbers
from pytest_llmeval.scoring.eed.reader.pair import read_one

OTHER_NAMES = str.maketrans("abcd", "dbac")


def order(target: str, answer: str) -> str:
    """Return the symbols of two formulas in the order of their numbers."""
    numbers = symbol_numbers(read_one(target).answer.form, read_one(answer).answer.form)
    return "".join(item.name for item in sorted(numbers, key=lambda item: numbers[item].name))


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("a/b-c^d", "a"),
        ("(a+b^2)(c+d^3)", "a"),
        ("ab", "a^2b^3"),  # only the answer distinguishes a and b
        ("ab^2", "a+b+c^2+d^3"),
        ("abcd", "a/b-c^d"),
    ],
)
def test_under_other_names_symbols_have_the_same_numbers(target: str, answer: str) -> None:
    renamed = order(target.translate(OTHER_NAMES), answer.translate(OTHER_NAMES))
    assert renamed == order(target, answer).translate(OTHER_NAMES)


def test_symbols_with_equal_positions_are_ordered_by_name() -> None:
    assert order("ab", "c+d") == order("ba", "d+c") == "abcd"


def test_subtracted_symbols_come_last() -> None:
    assert [order("a-b", "c"), order("b-a", "c")] == ["abc", "bac"]


def test_a_target_has_the_same_numbers_for_every_answer() -> None:
    orders = [order("(a-b)/c^2", answer) for answer in ("c", "a^b+d", "b-a")]
    assert {found[:3] for found in orders} == {orders[0][:3]}
