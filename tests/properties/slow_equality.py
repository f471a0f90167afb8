"""SLDP equality by its definition, slowly: a second implementation to compare with."""

from __future__ import annotations

from fractions import Fraction

from pytest_llmeval.scoring.sldp import (
    DictValue,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    Value,
)


def slowly_equal(left: Value, right: Value) -> bool:  # noqa: PLR0911 - one case a kind of value
    """Return equality by its definition: every element with every other, in exact fractions."""
    match left, right:
        case NumberValue(), NumberValue():
            distance = abs(Fraction(left.number) - Fraction(right.number))
            return distance == 0 or distance < Fraction(1, 100)
        case StringValue(), StringValue():
            return left.text.strip().casefold() == right.text.strip().casefold()
        case PointValue(), PointValue():
            pairs = zip(left.coordinates, right.coordinates, strict=True)
            return all(
                slowly_equal(NumberValue(number=ours), NumberValue(number=theirs))
                for ours, theirs in pairs
            )
        case ListValue(), ListValue():
            return len(left.elements) == len(right.elements) and all(
                map(slowly_equal, left.elements, right.elements)
            )
        case SetValue(), SetValue():
            return included(left.elements, right.elements) and included(
                right.elements, left.elements
            )
        case DictValue(), DictValue():
            return slowly_equal(
                *(SetValue(elements=tuple(map(as_list, one.entries))) for one in (left, right))
            )
        case _:
            return False


def included(elements: tuple[Value, ...], others: tuple[Value, ...]) -> bool:
    return all(any(slowly_equal(element, other) for other in others) for element in elements)


def as_list(entry: tuple[Value, Value]) -> ListValue:
    return ListValue(elements=entry)
