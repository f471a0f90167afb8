from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.report.clean import clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(
            "plain, with ünïcödé 漢字 and \\alpha",
            "plain, with ünïcödé 漢字 and \\alpha",
            id="plain",
        ),
        pytest.param("\x1b[31mred\x1b[0m", "red", id="colour"),
        pytest.param("\x1b[2J\x1b[Hgone", "gone", id="clears the screen"),
        pytest.param("\x1b]0;title\x07text", "text", id="window title"),
        pytest.param("\x1b]8;;https://evil\x1b\\link\x1b]8;;\x1b\\", "link", id="hyperlink"),
        pytest.param("\x1b]0;never ends", "0;never ends", id="unfinished sequence"),
        pytest.param("\x1bPq#0;2;0\x1b\\after", "after", id="sixel picture"),
        pytest.param("\x9b31mred", "red", id="one-character CSI"),
        pytest.param("\x1b", "", id="bare escape"),
        pytest.param("\x1b\x1b[31m[31mx", "[31mx", id="nested escape leaves harmless text"),
        pytest.param("a\r\nb\tc\u2028d\x0be", "a b c d e", id="white space"),
        pytest.param("a\x00\x07\x08\x7fb", "ab", id="control characters"),
        pytest.param("abc\u202edef\u2066ghi\u200f", "abcdefghi", id="direction marks"),
        pytest.param("zero\u200bwidth\ufeff", "zerowidth", id="invisible"),
        pytest.param("\ud800x", "x", id="lone surrogate"),
        pytest.param("[red]not markup[/red]", "[red]not markup[/red]", id="rich markup is text"),
        pytest.param("", "", id="empty"),
    ],
)
def test_text_is_made_fit_for_one_cell(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_long_text_is_cut_and_says_so() -> None:
    assert clean("x" * 80) == "x" * 80
    assert clean("x" * 81) == "x" * 79 + "…"
    assert len(clean("x" * 10**6)) == 80
    assert clean(" " * 10**6 + "x") == "…"


@given(st.text(alphabet=st.characters(), max_size=200) | st.text("\x1b[]0;m\x07\\a\x9b"))
def test_nothing_that_steers_a_terminal_remains(text: str) -> None:
    shown = clean(text)
    assert len(shown) <= 80
    assert not any(unicodedata.category(character)[0] == "C" for character in shown)
    assert clean(shown) == shown


def test_printable_texts_are_read_as_sign_by_sign() -> None:
    signs = [sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isprintable()]
    for start in range(0, len(signs), 5000):
        text = "".join(signs[start : start + 5000])
        assert clean(text, 10_000) == clean(f"{text}\0", 10_000)
