"""Calls in text: what a writer wrote is read again, and no text breaks the reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.trajectory.call_text import DEEPEST_VALUE, written_calls

FOREIGN = Path(__file__).with_name("foreign_calls.jsonl")
"""60 replies with the calls in them, None where one is malformed."""

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["</tool>", "<tool>a()</tool>", '"', "'", '"""', "\\", "\\n", "\\d", "it's\n", ")", "\x00"]
)
NAMES = st.text("aZ_9-", min_size=1, max_size=4)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Json] = st.recursive(
    TEXTS | NUMBERS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
CALLS = st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=2))
QUOTES = ['"', "'", '"""', "'''"]
STYLES = st.tuples(st.sampled_from(QUOTES), st.sampled_from(["", " ", "\n\t"]), st.booleans())
"""How a call is written: its quotes, the spaces between its parts, and whether as in Python."""


def written(value: Json, style: tuple[str, str, bool]) -> str:
    """Return a value as a model may write it."""
    quote, space, pythonic = style
    match value:
        case str():
            escaped = value.replace("\\", "\\\\").replace(quote[0], "\\" + quote[0])
            return f"{quote}{escaped}{quote}"
        case list():
            return f"[{space}{f',{space}'.join(written(one, style) for one in value)}{space}]"
        case dict():
            pairs = (
                f"{written(key, style)}:{space}{written(one, style)}" for key, one in value.items()
            )
            return f"{{{f'{space},'.join(pairs)}}}"
    return repr(value) if pythonic else json.dumps(value)


def call_text(call: tuple[str, dict[str, Json]], style: tuple[str, str, bool]) -> str:
    name, arguments = call
    space = style[1]
    inner = f",{space}".join(
        f"{key}{space}={written(one, style)}" for key, one in arguments.items()
    )
    return f"<tool>{space}{name}({inner}{space}){space}</tool>"


@given(st.lists(st.tuples(CALLS, STYLES), min_size=1, max_size=2), st.text("ab <tol>/\n"))
def test_calls_are_read_as_they_were_written(
    calls: list[tuple[tuple[str, dict[str, Json]], tuple[str, str, bool]]], prose: str
) -> None:
    between = prose.replace("<tool>", "")
    text = between.join(["", *(call_text(call, style) for call, style in calls), ""])
    read = written_calls(text)
    assert [(one.name, one.arguments) for one in read] == [call for call, _ in calls]
    assert all(type(one.arguments) is dict for one in read)


@given(st.lists(CALLS, min_size=1, max_size=2), st.data())
def test_a_call_that_is_cut_anywhere_is_told_and_the_next_one_is_read(
    calls: list[tuple[str, dict[str, Json]]], data: st.DataObject
) -> None:
    text = call_text(calls[0], ("'", "", False))
    cut = text[: data.draw(st.integers(len("<tool>"), len(text) - 1))]
    (read,) = written_calls(cut)
    assert read.arguments is None
    assert read.problem.startswith("The call cannot be read: ")
    assert len(read.problem) < 300


SIGNS = "()=,[]{}:'\"\\-.1a \n\x00\ud800٣"
SNIPPETS = st.sampled_from([*SIGNS, "<tool>", "</tool>", '"""', "\\ud800", "e9", "true", "None"])


@settings(max_examples=300)
@given(st.lists(SNIPPETS, max_size=60).map("".join) | st.text())
def test_no_text_raises_and_what_is_read_is_json(text: str) -> None:
    for call in written_calls(text):
        if call.arguments is None:
            assert call.problem
        else:
            # A surrogate that stands in the text itself is no escape's; replies hold none.
            json.dumps(call.arguments, allow_nan=False)


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        ("", {}),
        ("a=1,", {"a": 1}),
        ("a=+1.5e3, b=-0", {"a": 1500.0, "b": 0}),
        ("a='it\\'s', b=\"a\nb\"", {"a": "it's", "b": "a\nb"}),
        (r"""a="\\d \d \n \x41 \u00e9 \ud83d\ude00 \ud800" """, {"a": "\\d \\d \n A é 😀 �"}),
        ('a="""say "hi"\n"""', {"a": 'say "hi"\n'}),
        ("a={'b': [1, null, True]}", {"a": {"b": [1, None, True]}}),
    ],
)
def test_values_in_every_spelling(inner: str, arguments: dict[str, Json]) -> None:
    (call,) = written_calls(f"<tool>f({inner})</tool>")
    assert (call.name, call.arguments) == ("f", arguments)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<tool></tool>", "'</tool>' stands where the name of a tool should"),
        ("<tool>f</tool>", "stands where ( should"),
        ("<tool>f(1)</tool>", "stands where = should"),
        ("<tool>f(a=1, a=2)</tool>", "'a' stands twice"),
        ("<tool>f(a=b)</tool>", "stands where a value"),
        ("<tool>f(a=__import__('os'))</tool>", "stands where a value"),
        ("<tool>f(a=1 if x else 2)</tool>", "stands where ) should"),
        ("<tool>f(a='b' 'c')</tool>", "stands where ) should"),
        ("<tool>f(a=1e999)</tool>", "the number 1e999 is too large"),
        (f"<tool>f(a={'9' * 5000})</tool>", "a number has more than 300 digits"),
        (f"<tool>f(a={'[' * 100_000})</tool>", f"deeper than {DEEPEST_VALUE} levels"),
        ("<tool>f(a={1: 2})</tool>", "stands where a key in quotes should"),
        ("<tool>f(a=1)", "it ends before </tool>"),
        ("<tool>f(a='1)</tool>", "stands where a value"),
    ],
)
def test_what_is_no_call_is_told_with_its_place(text: str, problem: str) -> None:
    call = written_calls(text)[0]
    assert call.arguments is None
    assert problem in call.problem


def test_a_call_behind_a_malformed_one_is_read() -> None:
    text = "<tool>f(1)</tool> so: <tool>f(a=1)</tool>"
    assert [call.arguments for call in written_calls(text)] == [None, {"a": 1}]


@pytest.mark.timeout(60)  # a reader that went back over the text would take many minutes
@pytest.mark.parametrize(
    "unit",
    [
        "<tool>a(b='",
        '<tool>a(b="""</tool>',
        "<tool>a(b='</tool>\\",
        "'</tool><tool>a(b=[\"', ",
        '<tool>a(b=[""</tool>',
        "[{'",
    ],
)
def test_a_hostile_text_of_any_length_is_read_at_once(unit: str) -> None:
    text = "<tool>a(b=" + unit * 10_000
    assert all(call.arguments is None for call in written_calls(text))


def test_replies_by_a_writer_who_had_not_seen_the_reader_are_read_as_he_meant_them() -> None:
    wrong = []
    for case in map(json.loads, FOREIGN.read_text("utf-8").splitlines()):
        calls = written_calls(case["text"])
        read = [{"name": call.name, "arguments": call.arguments} for call in calls]
        malformed = any(call.problem for call in calls)
        if (None if malformed else read) != case["calls"]:
            wrong.append(case["text"])
    assert wrong == []
