"""Texts of others are printable, and any exception can be told."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_llmeval.errors import LLMEvalError, ProviderError, TaskError
from pytest_llmeval.records.error_json import error_from_json, error_to_json
from pytest_llmeval.safety.printable import described, printable

ANY_TEXT = st.text(alphabet=st.characters(), max_size=300)
STEERING = st.text("\x1b[]0;m\x07\\a\x9b\x9dP\r\n\t \u202e\u2028\ud800", max_size=300)
TEXTS = ANY_TEXT | STEERING | st.builds(str.__add__, ANY_TEXT, STEERING)

ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.booleans().map(lambda _: 10**5000)
    | st.floats()
    | TEXTS
    | st.binary()
    | st.complex_numbers()
    | st.just(object()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.integers(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=6,
)

CLASSES = [
    Exception,
    ValueError,
    KeyError,
    OSError,
    StopIteration,
    SystemExit,
    KeyboardInterrupt,
    GeneratorExit,
    LLMEvalError,
    ProviderError,
]


def is_clean(text: str) -> bool:
    """Whether nothing in a text steers a terminal, and XML and UTF-8 can hold it."""
    steers = any(unicodedata.category(sign) in {"Cc", "Cs"} and sign not in "\t\n" for sign in text)
    turns = any(
        unicodedata.bidirectional(sign)
        in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
        for sign in text
    )
    element = ET.Element("text")
    element.text = text
    return (
        not steers and not turns and ET.fromstring(ET.tostring(element)) is not None  # noqa: S314 - our own
    )


@given(TEXTS)
def test_nothing_that_steers_a_terminal_or_breaks_xml_remains(text: str) -> None:
    shown = printable(text)
    assert is_clean(shown)
    assert printable(shown) == shown


@given(TEXTS, st.integers(1, 50))
def test_a_text_is_cut_and_says_so(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) <= limit + len("… (1,000,000 more characters)")
    assert ("more characters)" in shown) == (shown != printable(text))


def test_hundreds_of_thousands_of_escapes_take_no_time_and_leave_nothing() -> None:
    assert printable("\x1b" * 400_061) == "… (360,061 more characters)"
    assert len(printable("\x1b]" * 50_000_000)) < 100
    assert printable("\x1b[31mred\x1b[0m\r\nnext\u2028line") == "red\nnext\nline"


@given(st.sampled_from(CLASSES), st.lists(ANYTHING, max_size=3), st.dictionaries(TEXTS, ANYTHING))
@example(ProviderError, ["told"], {"reach": object()})
@example(ValueError, ["\ud800" * 100_000], {})
def test_any_exception_crosses_as_plain_bounded_json(
    kind: type[BaseException], arguments: list[Any], attributes: dict[str, Any]
) -> None:
    error = kind.__new__(kind, *arguments)
    error.args = tuple(arguments)
    vars(error).update(attributes)
    frame = json.dumps(error_to_json(error), allow_nan=False)
    assert frame.isascii()
    again = error_from_json(json.loads(frame))
    assert is_clean(str(again))
    assert len(str(again)) < 12_000
    assert is_clean(described(error))
    # What is told once is told alike after any number of processes.
    assert error_to_json(again)["message"] == str(again)


def test_a_subclass_of_ours_crosses_as_our_class() -> None:
    class OwnError(ProviderError):
        pass

    again = error_from_json(error_to_json(OwnError("told", reach="model", status=500)))
    assert type(again) is ProviderError
    assert (again.reach, again.status) == ("model", 500)


def test_the_exceptions_of_a_group_are_told() -> None:
    group = ExceptionGroup("unhandled", [ExceptionGroup("inner", [ValueError("a"), KeyError("b")])])
    assert described(group) == (
        "ExceptionGroup: unhandled (1 sub-exception)\n- ValueError: a\n- KeyError: 'b'"
    )


@given(TEXTS, TEXTS)
def test_every_message_of_ours_is_printable(problem: str, key: str) -> None:
    assert is_clean(str(LLMEvalError(problem)))
    assert is_clean(str(TaskError(problem, file="task.yaml", key=key)))


@pytest.mark.parametrize("kind", [ValueError, ProviderError])
def test_an_exception_without_words_is_told_by_its_class(kind: type[BaseException]) -> None:
    class Mute(kind):  # type: ignore[misc,valid-type]
        def __str__(self) -> str:
            raise SystemExit

    assert described(Mute("x")) == "Mute: (its message cannot be read: SystemExit)"


PRINTABLE = "".join(sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isprintable())


def test_texts_that_are_returned_at_once_hold_nothing_that_would_be_taken_away() -> None:
    size = len(PRINTABLE)
    assert printable(PRINTABLE, limit=size) == PRINTABLE
    assert printable(PRINTABLE + "\0", limit=size) == PRINTABLE
