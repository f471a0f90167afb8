"""Hostile texts end in a value or a syntax error, in linear time and at any nesting.

No limit on time is set here: quadratic time would take minutes on a megabyte.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence

import pytest

from pytest_llmeval import assert_sldp_equal
from pytest_llmeval.records import Sample
from pytest_llmeval.scoring.sldp import (
    LONGEST_ANSWER,
    SldpSyntaxError,
    TooCostlyError,
    equality,
    parse_sldp,
    render_sldp,
    sldp_diff,
    sldp_equals,
)
from pytest_llmeval.scoring.sldp.scorer import SldpScorer

MEGABYTE = 1_000_000
DEEPEST = 1000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1" * MEGABYTE, id="digits-beyond-a-double"),
        pytest.param("1" * MEGABYTE + ".x", id="digits-that-are-no-number"),
        pytest.param("1e" + "9" * MEGABYTE, id="exponent"),
        pytest.param('"' + "a" * MEGABYTE, id="unclosed-quote"),
        pytest.param('"' + "\\" * (MEGABYTE + 1), id="backslashes"),
        pytest.param('"' * MEGABYTE, id="quotes"),
        pytest.param("[" * MEGABYTE, id="lists"),
        pytest.param("<" * MEGABYTE, id="sets"),
        pytest.param("{a:" * (MEGABYTE // 3), id="dicts"),
        pytest.param("POINT(" + " " * MEGABYTE, id="blanks-in-a-point"),
        pytest.param("POINT" * (MEGABYTE // 5) + "(", id="points"),
        pytest.param("," * MEGABYTE, id="commas"),
        pytest.param("\n" * MEGABYTE + "x y", id="lines"),
        pytest.param("\0" * MEGABYTE, id="nul"),
        pytest.param("1e" + "9" * 9, id="huge-exponent"),
    ],
)
def test_a_megabyte_of_nonsense_is_a_syntax_error_with_a_short_message(text: str) -> None:
    with pytest.raises(SldpSyntaxError) as caught:
        parse_sldp(text)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("answer", "solution", "equal"),
    [
        pytest.param("a" * MEGABYTE, "A" * MEGABYTE, True, id="word"),
        pytest.param(f'"{" " * MEGABYTE}x"', "x", True, id="quoted-blanks"),
        pytest.param("1" * MEGABYTE + "x", "1", False, id="digits-then-a-letter"),
        pytest.param("0" * MEGABYTE + "5", "5", True, id="leading-zeros"),
        pytest.param("0." + "1" * MEGABYTE, "0.11", True, id="decimals"),
        pytest.param(
            "0." + "0" * MEGABYTE + "1e" + str(MEGABYTE + 1), "1", True, id="decimals-and-exponent"
        ),
        pytest.param("1e-" + "9" * MEGABYTE, "0", True, id="negative-exponent"),
        pytest.param("0e" + "9" * MEGABYTE, "0", True, id="zero-with-exponent"),
        pytest.param("POINT" + " " * MEGABYTE, "point", True, id="a-string-called-point"),
        pytest.param('"a\0b"', "'A\0B'", True, id="nul-in-quotes"),
        pytest.param("'\ud800'", "'\ud800'", True, id="lone-surrogate"),
        pytest.param("<1e308, 5e-324, -1e308>", "<-1e308, 0, 1e308>", True, id="far-apart-numbers"),
        pytest.param(
            "<POINT(1e308 1e-308 0)>",
            "<POINT(1e308 0 1e-999999999)>",
            True,
            id="far-apart-coordinates",
        ),
        pytest.param(
            "<[1e308, 0], [-1e308, 1]>", "<[1e308, 1], [-1e308, 0]>", False, id="far-apart-rows"
        ),
        pytest.param(
            "<" + "[1e300,5]," * 50 + "[1,2]>", "<[1e300,5],[1,2]>", True, id="large-rows"
        ),
    ],
)
def test_extreme_values_compare_like_any_other(answer: str, solution: str, *, equal: bool) -> None:
    assert sldp_equals(answer, solution) is equal


@pytest.mark.parametrize("tolerance", [0, 1e-320, 1e300, 1.7e308])
def test_extreme_tolerances_compare_like_any_other(tolerance: float) -> None:
    rows = "<" + ", ".join(f"[{number}, 5]" for number in range(50)) + ">"
    assert sldp_equals(rows, rows, tolerance=tolerance)


@pytest.mark.parametrize("brackets", [("[", "]"), ("<", ">"), ("{a: ", "}")])
def test_nesting_of_a_thousand_is_read_compared_explained_and_written(
    brackets: tuple[str, str],
) -> None:
    def nested(core: str) -> str:
        return brackets[0] * DEEPEST + core + brackets[1] * DEEPEST

    value = parse_sldp(nested("1"))
    assert render_sldp(value) == nested("1")
    assert value == parse_sldp(nested("1"))
    assert sldp_equals(value, nested("1.009"))
    assert not sldp_equals(value, nested("1.01"))
    assert len(sldp_diff(value, nested("2"))) == 1
    with pytest.raises(SldpSyntaxError, match="at most 1000 containers inside each other"):
        parse_sldp(brackets[0] + nested("1") + brackets[1])


def chain(core: str) -> str:
    return "<[1], " * (DEEPEST - 1) + core + ">" * (DEEPEST - 1)


def tree(depth: int, start: float) -> str:
    if depth == 0:
        return str(start)
    return f"<{tree(depth - 1, start)}, {tree(depth - 1, start + 2**depth)}>"


@pytest.mark.parametrize(
    ("make", "near"),
    [
        pytest.param(lambda shift: chain(str(1 + shift)), 0.002, id="a-chain-of-sets"),
        pytest.param(lambda shift: tree(12, shift), 0.002, id="a-tree-of-sets"),
        pytest.param(
            lambda shift: f"[{'0, [' * 900}{list(range(20000))}, {shift}{']' * 901}",
            0.002,
            id="a-large-core",
        ),
    ],
)
def test_nested_sets_do_not_multiply_the_work(make: Callable[[float], str], near: float) -> None:
    assert sldp_equals(make(0), make(near))
    assert not sldp_equals(make(0), make(0.5))


MODULUS = 2**61 - 1
"""Of Python's hash of numbers."""


def operations(work: Callable[[], object]) -> int:
    """Return how many calls of functions and methods, built-in ones too, a computation makes."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:  # noqa: ARG001 - as sys calls it
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def crowd(size: int, spread: float, *offset: float) -> list[str]:
    """Return points within `spread` of an offset, no two of them equal."""
    noise = random.Random(size)
    return [
        "POINT({:.9f} {:.9f} {:.9f})".format(*(x + noise.uniform(0, spread) for x in offset))
        for _ in range(size)
    ]


def crowds_of(offset: Sequence[float], spread: float = 0.0001) -> Callable[[int], tuple[str, str]]:
    def pair(size: int) -> tuple[str, str]:
        left, right = crowd(size, spread, 0, 0, 0), crowd(size, spread, *offset)
        return f"<{', '.join(left)}>", f"<{', '.join(right)}>"

    return pair


def rows_with_equal_beginnings(size: int) -> tuple[str, str]:
    left, right = (
        ", ".join(f"<[0, <{number}, {number + half}>]>" for number in range(size))
        for half in (0.1, 0.2)
    )
    return f"<{left}>", f"<{right}>"


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(crowds_of((0.015, 0, 0)), id="in-one-cell-of-two-tolerances"),
        pytest.param(crowds_of((0.0199, 0, 0)), id="in-adjacent-cells"),
        pytest.param(crowds_of((0.0101, 0.0101, 0.0101)), id="at-a-corner"),
        pytest.param(crowds_of((-0.0101, 0.0101, 0)), id="at-an-edge"),
        pytest.param(crowds_of((0.012, 0, 0), 0.004), id="that-nearly-touch"),
        pytest.param(rows_with_equal_beginnings, id="of-containers"),
    ],
)
def test_two_crowds_that_do_not_match_are_compared_in_nearly_linear_work(
    texts: Callable[[int], tuple[str, str]],
) -> None:
    counts = []
    for size in (300, 1200):
        left, right = map(parse_sldp, texts(size))
        counts.append(operations(lambda: sldp_equals(left, right)))  # noqa: B023 - called at once
        counts.append(operations(lambda: sldp_diff(left, right)))  # noqa: B023 - likewise
    # Four times the elements: linear is 4, quadratic is 16.
    assert counts[2] < 8 * counts[0]
    assert counts[3] < 8 * counts[1]


def test_keys_whose_hashes_collide_are_read_in_linear_time() -> None:
    def keys(step: int) -> str:
        return "{" + ", ".join(f"{number * step + 1}: 0" for number in range(10_000)) + "}"

    def seconds(text: str) -> float:
        start = time.process_time()
        parse_sldp(text)
        return time.process_time() - start

    # By hash the colliding ones take fourteen times as long.
    assert seconds(keys(MODULUS)) < 5 * seconds(keys(1))


@pytest.mark.parametrize(
    "text", ["{1: a, 1.0: b}", "{0: a, -0: b}", "{10: a, 1e1: b}", "{.5: a, 0.50: b}"]
)
def test_a_number_is_the_same_key_however_it_is_written(text: str) -> None:
    with pytest.raises(SldpSyntaxError, match="each key only once"):
        parse_sldp(text)


def test_a_number_and_a_string_of_its_digits_are_two_keys() -> None:
    assert parse_sldp('{1: a, "1": b}') is not None


def test_what_no_order_makes_cheap_to_compare_ends_with_an_error_and_an_incorrect_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [f"[{'0, ' * 12}{number}]" for number in range(1000)]
    answer, solution = f"<{', '.join(rows)}>", f"<{', '.join(rows[::-1])}>"
    monkeypatch.setattr(equality, "MOST_STEPS", 100_000)
    with pytest.raises(TooCostlyError, match="100,000 steps"):
        sldp_equals(answer, solution)
    score = SldpScorer().score(answer, Sample(id="1", input="", target=solution))
    assert (score.correct, score.details["valid_sldp"]) == (False, True)
    assert score.explanation.startswith("too expensive to compare")


def test_an_answer_of_more_than_half_a_megabyte_is_incorrect_without_being_parsed() -> None:
    score = SldpScorer().score("<" * (LONGEST_ANSWER + 1), Sample(id="1", input="", target="1"))
    assert (score.correct, score.details["valid_sldp"]) == (False, False)
    assert "500,001 characters, more than 500,000" in score.explanation


def test_a_failed_assertion_shows_the_beginnings_of_a_long_answer_and_target() -> None:
    for answer, solution in [("a" * MEGABYTE, "b" * MEGABYTE), ("<a", "b"), ("a" * 400_000, "[b]")]:
        with pytest.raises(AssertionError) as caught:
            assert_sldp_equal(answer, solution)
        assert len(str(caught.value)) < 1_000
