"""docs/notebooks/forest_plot.py: the same run gives the same SVG and PDF."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from example_rows import row
from stored_runs import stored

from pytest_llmeval import Run

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "notebooks"))
pytest.importorskip("matplotlib")

import forest_plot

HOSTILE = "a_$b^ & <x> \\frac"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    rows = [row(str(n), "correct" if n % 3 else "incorrect") for n in range(9)]
    return stored(tmp_path, [*rows, row("1", model=HOSTILE), row("1", "error", model="broken")])


def test_each_task_and_model_with_a_value_has_a_line_with_its_interval(run: Run) -> None:
    [axes] = forest_plot.forest_plot(run).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [f"demo · {HOSTILE}", "demo · openai/small"]
    intervals = [tuple(line.get_xdata()) for line in axes.lines]
    for entry in run.summary.entries:
        if (mean := entry.figures.accuracy).value is not None:
            assert (mean.low, mean.high) in intervals
            assert (mean.value,) in intervals


def test_the_svg_is_well_formed_with_names_as_texts(run: Run) -> None:
    root = ET.fromstring(forest_plot.drawn(run, "svg"))  # noqa: S314 - our own
    texts = {one.text for one in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {f"demo · {HOSTILE}", "demo · openai/small"} <= texts


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_the_same_run_gives_the_same_bytes(form: str, run: Run) -> None:
    drawn = forest_plot.drawn(run, form)
    assert drawn == forest_plot.drawn(run, form)
    assert drawn.startswith({"svg": b"<?xml", "pdf": b"%PDF-"}[form])
    assert drawn.rstrip().endswith({"svg": b"</svg>", "pdf": b"%%EOF"}[form])


def test_the_script_writes_the_file_that_is_named(run: Run, tmp_path: Path) -> None:
    forest_plot.main([str(run.path), str(tmp_path / "accuracy.pdf")])
    assert (tmp_path / "accuracy.pdf").read_bytes() == forest_plot.drawn(run, "pdf")
