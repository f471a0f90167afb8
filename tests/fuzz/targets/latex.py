"""The LaTeX reader of EED: any text has a reading, or a reason why it has none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from fuzz.splicing import splicing
from fuzz.target import Target, bytes_of, text_of

from pytest_llmeval.scoring.eed.reader.guards import FormulaError, check_text
from pytest_llmeval.scoring.eed.reader.pair import read_one

READINGS = Path(__file__).parents[2] / "scoring" / "eed" / "reader" / "readings.json"


def check(data: bytes) -> None:
    """Read a formula, and every eighth one again."""
    text = text_of(data)
    first = reading(text)
    assert len(data) % 8 or reading(text) == first, "a text is read in two ways"


def reading(text: str) -> str:
    """Return what a text is read as, or the reason why it is not."""
    try:
        check_text(text)
        return repr(read_one(text).answer)
    except FormulaError as error:
        return f"refused: {error}"


def seeds() -> Iterator[bytes]:
    """Yield the formulas of the tests."""
    for case in json.loads(READINGS.read_text("utf-8")):
        yield bytes_of(case["latex"])


WORDS = (
    *(
        r"\frac",
        r"\sqrt",
        r"\sin",
        r"\ln",
        r"\left(",
        r"\right)",
        r"\int",
        r"\sum",
        r"\partial",
    ),
    *(r"\begin{pmatrix}", r"\end{pmatrix}", r"\text{", r"\vec{", r"\cdot", r"\pm", r"\approx"),
    *("_{", "^{", "&", r"\\", "!", "|", "=", r"\to", r"\,", r"\mathrm{d}", r"\lim", "\\"),
)
TARGET = Target(
    check=check,
    seeds=seeds,
    mutate=splicing(seeds, WORDS),
    words=WORDS,
    longest=200,
    cpu_seconds=15.0,
)
