"""Laws of SLDP equality, also against a second, slow implementation of its definition."""

from __future__ import annotations

import random
from decimal import Context, Decimal

from hypothesis import given, settings
from hypothesis import strategies as st
from properties.slow_equality import slowly_equal

from pytest_llmeval.scoring.sldp import (
    DictValue,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    SldpSyntaxError,
    StringValue,
    Value,
    parse_sldp,
    render_sldp,
    sldp_diff,
    sldp_equals,
)

EXACT = Context(prec=1000)  # more digits than the sum of any two doubles has
unhurried = settings(deadline=None)  # the first example builds the parser

# Few different values, and close together: chance then often makes two of them equal, nearly equal
# or not quite.
close = st.integers(-12, 12).map(lambda steps: Decimal(steps) / 250)
wide = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: Decimal(repr(number)))
words = st.sampled_from(["O1", "o1", "O2", " O2", "straße", "STRASSE", "1"])
texts = st.text(max_size=8)


def values(
    numbers: st.SearchStrategy[Decimal], strings: st.SearchStrategy[str]
) -> st.SearchStrategy[Value]:
    number = numbers.map(lambda size: NumberValue(number=size or Decimal(0)))
    string = strings.map(lambda text: StringValue(text=text))
    point = st.tuples(number, number, number).map(
        lambda places: PointValue(coordinates=tuple(p.number for p in places))
    )
    return st.recursive(
        number | string | point,
        lambda inner: (
            st.lists(inner, max_size=4).map(lambda elements: ListValue(elements=tuple(elements)))
            | st.lists(inner, max_size=5).map(lambda elements: SetValue(elements=tuple(elements)))
            | st.lists(
                st.tuples(number | string, inner),
                max_size=4,
                unique_by=lambda entry: (
                    entry[0].number if isinstance(entry[0], NumberValue) else entry[0].text.strip()
                ),
            ).map(lambda entries: DictValue(entries=tuple(entries)))
        ),
        max_leaves=14,
    )


similar = values(close, words)
any_value = values(close | wide, words | texts)


def nudged(value: Value, generator: random.Random) -> Value:
    """Return an equal value: numbers moved within the tolerance, sets and dicts reordered."""
    match value:
        case NumberValue():
            return NumberValue(
                number=EXACT.add(value.number, Decimal(generator.randint(-9, 9)) / 1000)
            )
        case ListValue():
            return ListValue(
                elements=tuple(nudged(element, generator) for element in value.elements)
            )
        case SetValue():
            elements = [nudged(element, generator) for element in value.elements]
            return SetValue(elements=tuple(generator.sample(elements, len(elements))))
        case DictValue():
            entries = [(key, nudged(item, generator)) for key, item in value.entries]
            return DictValue(entries=tuple(generator.sample(entries, len(entries))))
        case _:
            return value


@unhurried
@given(any_value)
def test_reading_what_was_written_gives_the_value_back(value: Value) -> None:
    assert parse_sldp(render_sldp(value)) == value


@unhurried
@given(any_value)
def test_every_value_equals_itself(value: Value) -> None:
    assert sldp_equals(value, value)
    assert sldp_diff(value, render_sldp(value)) == ()


@unhurried
@given(similar, similar)
def test_equality_is_symmetric_and_as_defined(left: Value, right: Value) -> None:
    expected = slowly_equal(left, right)
    assert sldp_equals(left, right) is expected
    assert sldp_equals(right, left) is expected


@unhurried
@given(st.lists(similar, max_size=12), st.lists(similar, max_size=12))
def test_sets_are_equal_as_defined(left: list[Value], right: list[Value]) -> None:
    ours, theirs = SetValue(elements=tuple(left)), SetValue(elements=tuple(right))
    assert sldp_equals(ours, theirs) is slowly_equal(ours, theirs)


@unhurried
@given(
    st.lists(st.lists(close, min_size=4, max_size=4), max_size=20),
    st.randoms(use_true_random=False),
)
def test_rows_are_found_whichever_coordinate_tells_them_apart(
    rows: list[list[Decimal]], generator: random.Random
) -> None:
    value = SetValue(
        elements=tuple(
            ListValue(elements=tuple(NumberValue(number=n) for n in row)) for row in rows
        )
    )
    other = nudged(value, generator)
    assert sldp_equals(value, other)
    fewer = SetValue(elements=value.elements[1:])
    assert sldp_equals(fewer, other) is slowly_equal(fewer, other)


@unhurried
@given(any_value, st.randoms(use_true_random=False))
def test_order_in_sets_and_small_shifts_do_not_count(
    value: Value, generator: random.Random
) -> None:
    assert sldp_equals(value, nudged(value, generator))


@unhurried
@given(similar, similar)
def test_there_are_lines_exactly_when_values_differ(left: Value, right: Value) -> None:
    lines = sldp_diff(left, right)
    assert (lines == ()) is sldp_equals(left, right)
    assert len(lines) <= 10
    assert all(line.isprintable() and line.startswith("$") for line in lines)


@unhurried
@given(st.text(alphabet="<>[]{}(),: \n\"'\\POINT0123456789.eE+-aé", max_size=30) | st.text())
def test_any_text_is_a_value_or_a_syntax_error_within_it(text: str) -> None:
    outcome = read(text)
    if isinstance(outcome, SldpSyntaxError):
        assert 1 <= outcome.column <= len(text.split("\n")[outcome.line - 1]) + 1
        assert str(outcome).isprintable()
    else:
        assert parse_sldp(render_sldp(outcome)) == outcome


def read(text: str) -> Value | SldpSyntaxError:
    try:
        return parse_sldp(text)
    except SldpSyntaxError as error:
        return error
