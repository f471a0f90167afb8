"""Hostile texts end in a value or a syntax error, in linear time and at any nesting.

Nothing is timed here: quadratic time would take minutes on a megabyte.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_llmeval.scoring.sldp import (
    SldpSyntaxError,
    parse_sldp,
    render_sldp,
    sldp_diff,
    sldp_equals,
)

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
