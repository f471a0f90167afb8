"""One equality for each type of answer, by its laws."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.scoring.eed import latex_equal

QUICK = settings(max_examples=25, deadline=None)
NUMBERS = st.lists(st.integers(-9, 9), min_size=2, max_size=4, unique=True)
NAMES = st.lists(st.sampled_from("abcmrvL"), min_size=2, max_size=2, unique=True)


def joined(values: list[int]) -> str:
    return ", ".join(map(str, values))


@QUICK
@given(NUMBERS, st.data())
def test_a_set_has_no_order_and_a_tuple_has(values: list[int], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(values))
    assert latex_equal(rf"\{{{joined(shuffled)}\}}", rf"\{{{joined(values)}\}}")
    assert latex_equal(f"({joined(shuffled)})", f"({joined(values)})") == (shuffled == values)


@QUICK
@given(NUMBERS)
def test_every_member_is_found_and_none_is_extra(values: list[int]) -> None:
    target = r" \text{ or } ".join(f"x = {value}" for value in values)
    assert latex_equal(rf"x \in \{{{joined(values)}\}}", target)
    assert not latex_equal(rf"\{{{joined(values[1:])}\}}", target)
    assert not latex_equal(rf"\{{{joined([*values, 10])}\}}", target)


@QUICK
@given(
    st.integers(-9, 9),
    st.integers(1, 9),
    st.sampled_from("([").flatmap(lambda left: st.tuples(st.just(left), st.sampled_from(")]"))),
)
def test_an_interval_is_its_ends_and_whether_they_belong(
    low: int, width: int, brackets: tuple[str, str]
) -> None:
    left, right = brackets
    interval = rf"\left{left}{low}, {low + width}\right{right}"
    signs = [r"\le" if bracket in "[]" else "<" for bracket in brackets]
    chain = rf"{low} {signs[0]} x {signs[1]} {low + width}"
    assert latex_equal(chain, interval)
    for other_left in "([":
        for other_right in ")]":
            other = rf"{other_left}{low}, {low + width}{other_right}"
            assert latex_equal(other, chain) == ((other_left, other_right) == brackets)


@QUICK
@given(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=2, max_size=3))
def test_a_matrix_is_its_shape_and_entries(rows: list[list[int]]) -> None:
    def matrix(entries: list[list[int]], kind: str) -> str:
        inside = r" \\ ".join(" & ".join(map(str, row)) for row in entries)
        return rf"\begin{{{kind}}} {inside} \end{{{kind}}}"

    turned = [list(row) for row in zip(*rows, strict=True)]
    assert latex_equal(matrix(rows, "bmatrix"), matrix(rows, "pmatrix"))
    assert latex_equal(matrix(turned, "bmatrix"), matrix(rows, "pmatrix")) == (turned == rows)


@QUICK
@given(NAMES, st.integers(2, 9), st.sampled_from(["+", "-"]))
def test_an_equation_is_its_solutions(names: list[str], number: int, sign: str) -> None:
    one, other = names
    target = f"{one}^2 {sign} {number} {other} = {number}"
    assert latex_equal(f"{number} = {one}^2 {sign} {number} {other}", target)
    assert latex_equal(rf"\frac{{{one}^2}}{{{number}}} {sign} {other} - 1 = 0", target)
    assert not latex_equal(f"{one}^2 {sign} {number} {other} = {number + 1}", target)
    assert not latex_equal(f"{number}", target)


UNITS = [("km", "m", 1000), ("mm", "m", 0.001), ("kJ", "J", 1000), ("ms", "s", 0.001)]


@QUICK
@given(st.integers(1, 99), st.sampled_from(UNITS))
def test_a_quantity_is_its_value_in_base_units(value: int, units: tuple[str, str, float]) -> None:
    unit, base, factor = units
    target = rf"{value * factor:g}\ \mathrm{{{base}}}"
    assert latex_equal(rf"{value}\text{{ {unit}}}", target)
    assert not latex_equal(rf"{value}\text{{ {base}}}", target)
    assert not latex_equal(rf"{value * factor:g}\text{{ kg}}", target)


@QUICK
@given(
    NUMBERS,
    st.sampled_from(
        [
            r"\text{ or }",
            r"\text{ or maybe }",
            r",\ ",
            r"\quad\text{or possibly}\quad",
            r"\text{ and }",
        ]
    ),
)
def test_two_values_for_one_are_never_accepted(values: list[int], between: str) -> None:
    one, other = values[:2]
    assert not latex_equal(f"{one}{between}{other}", f"{one}")
    assert not latex_equal(rf"\boxed{{{one}}} or \boxed{{{other}}}", f"{one}")
    assert not latex_equal(f"x = {other}{between}x = {one}", f"x = {one}")


@QUICK
@given(NUMBERS)
def test_a_chain_with_a_member_that_contradicts_is_not_accepted(values: list[int]) -> None:
    one, other = values[:2]
    assert latex_equal(rf"x = \frac{{{2 * one}}}{{2}} = {one}", f"{one}")
    assert not latex_equal(rf"x = {one} = {other}", f"{one}")
    assert not latex_equal(rf"x = {other} = {one}", f"{one}")


@pytest.mark.parametrize("letters", ["xp", "AB", "ab"])
def test_the_order_of_operators_counts(letters: str) -> None:
    one, other = (rf"\hat{{{letter}}}" for letter in letters)
    assert latex_equal(f"{one}{other}-{other}{one}", f"[{one},{other}]")
    assert not latex_equal(f"{other}{one}", f"{one}{other}")


@pytest.mark.parametrize(
    ("answer", "target", "convention"),
    [
        (r"\frac{h\omega}{2\pi}", r"\hbar\omega", "planck"),
        (r"\frac{q}{4\pi\varepsilon_0 r^2}", r"\frac{kq}{r^2}", "coulomb"),
        (r"\frac{1}{\sqrt{\mu_0\epsilon_0}}", "c", "light"),
        (r"2\pi f", r"\omega", "frequency"),
    ],
)
def test_a_convention_holds_only_where_it_is_allowed(
    answer: str, target: str, convention: str
) -> None:
    assert not latex_equal(answer, target)
    assert latex_equal(answer, target, conventions=[convention])  # type: ignore[list-item]


def test_what_cannot_be_read_is_not_equal_and_decides_nothing_as_a_target() -> None:
    assert latex_equal(r"\nosuchcommand", "1") is False
    assert latex_equal("1", r"\nosuchcommand") is None
    assert latex_equal(None, "1") is False


def test_a_difference_behind_many_equal_parts_is_seen() -> None:
    words = [rf"\hat{{a}}^{{{n}}}\hat{{b}}" for n in range(2, 230)]
    assert not latex_equal("+".join([*words, r"2\hat{b}"]), "+".join([*words, r"3\hat{b}"]))
    pieces = [rf"({2 * n},{2 * n + 1})" for n in range(8)]
    union = r"\cup".join(pieces)
    assert not latex_equal(rf"{union}\cup(20.3,20.4)", rf"{union}\cup(20.5,20.6)")
    rows = [rf"{n} & {n}\le x<{n + 1}" for n in range(20)]
    last = r"\begin{cases}" + r" \\ ".join(rows) + r" \\ LAST & 20\le x<21 \end{cases}"
    assert not latex_equal(last.replace("LAST", "5"), last.replace("LAST", "6"))
