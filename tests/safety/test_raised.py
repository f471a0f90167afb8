"""Exceptions are told with the line of the user's file that led to them."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Message
from pytest_llmeval.safety.printable import described
from pytest_llmeval.safety.raised import described_with_place

CODE = """import json

def to_eur(currency):
    rates = {"USD": 0.9}
    return rates[currency]

def price(currency):
    return to_eur(currency)

def parsed(text):
    return json.loads(text)
"""


@pytest.fixture
def convert(tmp_path: Path) -> dict[str, Any]:
    """Return the functions of a user's file."""
    file = tmp_path / "convert.py"
    file.write_text(CODE)
    return runpy.run_path(str(file))


def raised_by(function: Callable[..., object], *values: object) -> Exception:
    """Return what a call raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any
        function(*values)
    # As where it is caught: without the frames of this file.
    assert caught.value.__traceback__ is not None
    inner = caught.value.__traceback__.tb_next
    return caught.value.with_traceback(inner)


def test_the_last_line_of_the_users_file_is_named_by_the_files_name(
    convert: dict[str, Any], tmp_path: Path
) -> None:
    told = described_with_place(raised_by(convert["price"], "XXX"))
    assert told == "KeyError: 'XXX' (convert.py, line 5, in to_eur)"
    assert str(tmp_path) not in told


def test_lines_of_python_and_of_this_package_are_passed_over(convert: dict[str, Any]) -> None:
    assert described_with_place(raised_by(convert["parsed"], "{")).endswith(
        "(convert.py, line 11, in parsed)"
    )
    alone = raised_by(Message.from_json, {})
    assert described_with_place(alone) == described(alone)
    alone = raised_by(json.loads, "{")
    assert described_with_place(alone) == described(alone)


@given(st.text(max_size=40))
def test_whatever_a_file_or_a_function_is_called_stays_printable(name: str) -> None:
    file = "/" + re.sub(r"[/\0\ud800-\udfff]", "", name) + "\x1b[31m.py"
    space: dict[str, Any] = {}
    exec(compile("def broken():\n    raise OSError", file, "exec"), space)  # noqa: S102 - its point
    told = described_with_place(raised_by(space["broken"]))
    assert "\x1b" not in told
    assert told.endswith("line 2, in broken)")


def test_an_exception_that_was_never_raised_has_no_place() -> None:
    assert described_with_place(ValueError("x")) == "ValueError: x"
