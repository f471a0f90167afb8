from __future__ import annotations

import pytest

from pytest_llmeval.report import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.611, "61.1 %"),
        (0.99949, "99.9 %"),
        (1999 / 2000, ">99.9 %"),
        (1 / 100_000, "<0.1 %"),
        (0.0005, "0.1 %"),
    ],
)
def test_percent(value: float | None, text: str) -> None:
    assert numbers.percent(value) == text


@pytest.mark.parametrize(
    ("value", "scale", "text"),
    [
        (None, 100, "–"),
        (67.25, 100, "67.2"),
        (100.0, 100, "100.0"),
        (0.5, 1, "0.500"),
        (7.469, 10, "7.47"),
        (3.1667, 5, "3.17"),
    ],
)
def test_score(value: float | None, scale: float, text: str) -> None:
    assert numbers.score(value, scale) == text


def test_interval() -> None:
    assert numbers.interval(38.62, 79.7, 100) == "38.6–79.7"
    assert numbers.interval(None, None, 100) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (12_345, "12,345"), (9_999_999, "9,999,999"), (12_345_678, "12.3 M")],
)
def test_count(value: int, text: str) -> None:
    assert numbers.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "$0.00"),
        (0.00123, "$0.0012"),
        (0.0000731, "$0.000073"),
        (0.126, "$0.13"),
        (1234.5, "$1,234.50"),
        (13_857_216.0, "$13.9 M"),
    ],
)
def test_money(value: float | None, text: str) -> None:
    assert numbers.money(value) == text


def test_money_of_which_a_part_is_unknown() -> None:
    assert numbers.money(0.5, at_least=True) == "≥ $0.50"
    assert numbers.money(None, at_least=True) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.04, "0.0"),
        (35.23, "35.2"),
        (99.94, "99.9"),
        (100.0, "100"),
        (4321.5, "4,322"),
    ],
)
def test_seconds(value: float | None, text: str) -> None:
    assert numbers.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (7300, "2 h"), (86_400 * 3.4, "3 d")],
)
def test_age(value: float, text: str) -> None:
    assert numbers.age(value) == text
