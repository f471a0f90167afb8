"""Texts for streams that are not UTF-8."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_llmeval
from pytest_llmeval.safety.encodable import encodable, encoding_of

ENCODINGS = st.sampled_from(["ascii", "latin-1", "cp1252", "cp437", "utf-8"])


@given(st.text(st.characters(exclude_categories=["Cs"])), ENCODINGS)
def test_any_text_becomes_encodable_and_keeps_what_could_be_written(
    text: str, encoding: str
) -> None:
    found = encodable(text, encoding)
    found.encode(encoding)
    kept = "".join(sign for sign in text if sign.encode(encoding, "ignore"))
    if kept == text:
        assert found == text
    assert encodable(found, encoding) == found


def test_the_signs_of_our_own_tables_have_forms_and_no_escapes() -> None:
    package = Path(pytest_llmeval.__file__).parent
    sources = [*package.glob("report/*.py"), *package.glob("session/*.py")]
    texts = [file.read_text() for file in sources if "csv" not in file.name]
    signs = {sign for text in texts for sign in re.findall(r"[^\x00-\x7f]", text)}
    assert {"─", "…", "–", "×", "·", "±", "≥", "→"} <= signs
    assert {sign for sign in signs if "\\" in encodable(sign, "ascii")} == set()


@pytest.mark.parametrize(
    ("variables", "stream", "expected"),
    [
        ({}, "utf-8", "utf-8"),
        ({}, "latin-1", "latin-1"),
        ({"LC_ALL": "C"}, "utf-8", "ascii"),
        ({"LC_ALL": "POSIX"}, "utf-8", "ascii"),
        ({"LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}, "utf-8", "utf-8"),
        ({"LC_ALL": "C", "PYTHONUTF8": "1"}, "utf-8", "utf-8"),
        ({"LC_ALL": "C.UTF-8"}, "utf-8", "utf-8"),
    ],
)
def test_the_locale_c_is_taken_at_its_word(
    variables: dict[str, str], stream: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "PYTHONIOENCODING", "PYTHONUTF8"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert encoding_of(io.TextIOWrapper(io.BytesIO(), encoding=stream)) == expected
    assert encoding_of(io.StringIO()) in {"utf-8", "ascii"}
