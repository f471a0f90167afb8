"""SLDP: the reader takes any text, and equality is what its definition says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml
from fuzz.splicing import splicing
from fuzz.target import Target, bytes_of, text_of
from properties.slow_equality import slowly_equal

from pytest_llmeval.scoring.sldp import (
    DictValue,
    ListValue,
    SetValue,
    SldpSyntaxError,
    TooCostlyError,
    Value,
    parse_sldp,
    render_sldp,
    sldp_diff,
    sldp_equals,
)

CASES = Path(__file__).parents[2] / "scoring" / "sldp" / "cases.yaml"
BETWEEN = "\n---\n"
"""Divides an answer from its solution."""

MOST_OF_A_MESSAGE = 500
FEW = 40
"""Values that the slow comparison is asked about."""


def check(data: bytes) -> None:
    """Read and compare an answer and its solution."""
    answer, _, solution = text_of(data).partition(BETWEEN)
    left, right = parsed(answer), parsed(solution)
    if left is None or right is None:
        return
    equal = compared(left, right)
    assert compared(right, left) in {equal, None} or equal is None, "equality depends on the order"
    if size(left) + size(right) <= FEW:
        assert equal is slowly_equal(left, right), "equality is not that of the definition"
    if equal is not None:
        assert bool(sldp_diff(left, right)) is not equal, "a difference is told of equal values"


def parsed(text: str) -> Value | None:
    """Return the value of a text; None if it is not valid SLDP."""
    try:
        value = parse_sldp(text)
    except SldpSyntaxError as error:
        told = str(error)
    else:
        return written_again(value)
    assert len(told) < MOST_OF_A_MESSAGE, "a message is as long as its text"
    return None


def written_again(value: Value) -> Value:
    """Return a value, whose text must read as the same value."""
    written = render_sldp(value)
    again = parse_sldp(written)
    assert render_sldp(again) == written, "a value is not read as it was written"
    assert compared(value, again) is not False, "a value does not equal itself"
    return value


def compared(left: Value, right: Value) -> bool | None:
    """Return whether two values are equal; None where that takes too long."""
    try:
        return sldp_equals(left, right)
    except TooCostlyError:
        return None


def size(value: Value) -> int:
    """Return the number of values in a value, keys included."""
    match value:
        case ListValue() | SetValue():
            return 1 + sum(map(size, value.elements))
        case DictValue():
            return 1 + sum(1 + size(item) for _, item in value.entries)
        case _:
            return 1


def seeds() -> Iterator[bytes]:
    """Yield the texts of the tests, each beside another one."""
    cases = yaml.safe_load(CASES.read_text("utf-8"))
    texts = [str(case["text"]) for case in cases["values"]]
    for text, other in zip(texts, [*texts[1:], *texts[:1]], strict=True):
        yield bytes_of(text + BETWEEN + other)
        yield bytes_of(text + BETWEEN + text)


WORDS = (BETWEEN, "POINT(", "1e308", "0.01", "0.005", "O1", "o1", '"', "{", "}", "<", ">", ": ")
TARGET = Target(
    check=check,
    seeds=seeds,
    mutate=splicing(seeds, WORDS),
    words=WORDS,
)
