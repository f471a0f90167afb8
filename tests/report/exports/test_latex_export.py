"""LaTeX tables: a strict reader of their form, and names that would break or change it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from example_rows import eed, row
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from record_strategies import HOSTILE, ROWS
from stored_runs import stored

from pytest_llmeval.records import Row
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.exports.export import Exported
from pytest_llmeval.report.exports.latex import escaped, latex_tables
from pytest_llmeval.results.run import Run

SHOWN = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\char34{}": '"',
    r"\textquotesingle{}": "'",
    r"\textasciigrave{}": "`",
    r"\ldots{}": "…",
    r"\{": "{",
    r"\}": "}",
    r"\$": "$",
    r"\&": "&",
    r"\#": "#",
    r"\%": "%",
    r"\_": "_",
    "{[}": "[",
    "{]}": "]",
    "{*}": "*",
    "-{}": "-",
    "--": "–",
}
"""All that may stand in a cell beside plain signs, and what LaTeX shows for it."""

TOKEN = re.compile("|".join(map(re.escape, SHOWN)) + r"|[^\\{}$&#%_^~<>|\"'`\[\]*…–\n-]")


def shown(cell: str) -> str:
    """Return what LaTeX shows for a cell; fail on anything that LaTeX would interpret."""
    place, signs = 0, []
    while place < len(cell):
        found = TOKEN.match(cell, place)
        assert found is not None, f"{cell!r} at {place}"
        signs.append(SHOWN.get(found[0], found[0]))
        place = found.end()
    return "".join(signs)


def text_of(run: Run) -> str:
    [file] = latex_tables(Exported(run=run))
    return "".join(file.parts)


def tables_of(text: str) -> list[tuple[str, list[list[str]]]]:
    """Return caption and lines of each table, the head first."""
    form = re.compile(
        r"\n\\begin\{table\}\n\\centering\n\\caption\{(?P<caption>.*)\}\n"
        r"\\begin\{tabular\}\{(?P<columns>[lr]+)\}\n\\toprule\n(?P<head>.*) \\\\\n\\midrule\n"
        r"(?P<lines>(?:.* \\\\\n)+)\\bottomrule\n\\end\{tabular\}\n\\end\{table\}\n"
    )
    head, _, body = text.partition("\n\\begin")
    assert all(line.startswith("%") for line in head.splitlines())
    body = f"\n\\begin{body}"
    found = list(form.finditer(body))
    assert "".join(one[0] for one in found) == body
    tables = []
    for one in found:
        lines = [one["head"], *one["lines"].removesuffix(" \\\\\n").split(" \\\\\n")]
        cells = [[shown(cell) for cell in re.split(r"(?<!\\)& ?", line)] for line in lines]
        cells = [[cell.strip() for cell in line] for line in cells]
        assert {len(line) for line in cells} == {len(one["columns"])}
        tables.append((shown(one["caption"].replace(r"\,", " ")), cells))
    return tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@given(st.text(max_size=40) | HOSTILE)
def test_any_text_is_shown_as_it_is(text: str) -> None:
    assert shown(escaped(text)) == clean(text, limit=1_000)


@settings(max_examples=25, deadline=None, phases=set(Phase) - {Phase.shrink, Phase.explain})
@given(st.lists(ROWS, min_size=1, max_size=3), st.text(max_size=8) | HOSTILE)
def test_tables_are_well_formed_whatever_the_names(
    folder: Path, rows: list[Row], name: str
) -> None:
    renamed = [Row.from_json(one.to_json() | {"model": name, "task": name}) for one in rows]
    run = stored(folder, [*rows, *renamed])
    tables = tables_of(text_of(run))
    assert len(tables) == len({entry.task for entry in run.summary.entries})
    assert sum(len(lines) - 1 for _, lines in tables) == len(run.summary.entries)


def test_every_mean_has_its_interval(tmp_path: Path) -> None:
    rows = [
        row("1", scores=eed(100), model="openai/a_b"),
        row("2", "incorrect", scores=eed(40), model="openai/a_b"),
        row("1", scores=eed(100), model="openai/c"),
    ]
    run = stored(tmp_path, rows)
    [(caption, [head, first, second])] = tables_of(text_of(run))
    assert caption == "demo, with 95 % intervals."
    assert head == ["", "Scored", "accuracy", "EED (0–100)"]
    assert first[:2] == ["openai/a_b", "2 of 2"]
    assert re.fullmatch(r"50\.0 % \[[\d.]+–[\d.]+\]", first[2])
    assert first[3].startswith("70.0 [")
    assert second[0] == "openai/c"


def test_the_caption_tells_of_recorded_replies(tmp_path: Path) -> None:
    [(caption, _)] = tables_of(text_of(stored(tmp_path, [row("1", recorded=True)])))
    assert caption.endswith("Recorded replies ran; no live model did.")
