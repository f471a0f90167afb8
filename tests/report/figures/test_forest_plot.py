"""Forest plots: every line with its numbers, nothing outside of the figure, the same bytes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from example_rows import eed, row
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from stored_runs import stored

from pytest_llmeval import Run
from pytest_llmeval.commands.main import main
from pytest_llmeval.errors import UsageError
from pytest_llmeval.report.figures.forest import Forest, forest_of
from pytest_llmeval.report.figures.forest_plot import drawn, forest_figure
from pytest_llmeval.results.summarise import summarise

mpl = pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402 - may be absent

HOSTILE = "a_$b^ & <x> \\frac{1}{0} $\\undefined"
NAMES = st.text(min_size=1, max_size=120) | st.sampled_from(
    [HOSTILE, "\x1b[31m\x00\n", "\u202eabc", "W" * 200, "模型" * 30, "$x$ $", "\\", "%s {} \ud800"]
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    rows = [
        row(str(n), "correct" if n % 3 else "incorrect", scores=eed(50.0 + n)) for n in range(9)
    ]
    return stored(tmp_path, [*rows, row("1", model=HOSTILE), row("1", "error", model="broken")])


def forest(run: Run) -> Forest:
    return forest_of({run.name: run.summary})


def texts(svg: bytes) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - our own
    found = root.iter("{http://www.w3.org/2000/svg}text")
    return ["".join(one.itertext()).strip() for one in found]


def test_each_task_and_model_has_a_line_with_point_interval_and_numbers(run: Run) -> None:
    found = forest_figure(forest(run), 7.0)
    [axes] = found.axes
    drawn_lines = [tuple(np.asarray(line.get_xdata()).tolist()) for line in axes.lines]
    said = [text.get_text().strip() for text in found.texts]
    for entry in run.summary.entries:
        assert entry.model in said
        if (mean := entry.figures.accuracy).value is not None:
            assert (mean.low, mean.high) in drawn_lines
            assert (mean.value,) in drawn_lines
            assert f"{100 * mean.value:.1f}" in said
    assert said.count("–") == 2  # of the model without a value


def test_the_svg_is_well_formed_with_names_as_texts(run: Run) -> None:
    assert {HOSTILE, "openai/small", "demo", "66.7"} <= set(texts(drawn(forest(run), "svg")))


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_the_same_run_gives_the_same_bytes_whatever_the_users_settings(form: str, run: Run) -> None:
    first = drawn(forest(run), form)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert drawn(forest(run), form) == first
        assert mpl.rcParams["font.size"] == 30
    assert first.startswith({"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}[form])
    assert not re.search(rb"CreationDate|dc:date", first)


def assert_inside(found: Forest, width: float) -> None:
    """Check that every text stands inside of the figure and beside the others of its line."""
    figure: Any = forest_figure(found, width)
    with mpl.rc_context({"font.size": 8.0, "font.family": ["DejaVu Sans"]}):
        page_of: Any = FigureCanvasAgg(figure)
        page_of.draw()
        renderer = page_of.get_renderer()
        [axes] = figure.axes
        boxes = [
            (text, text.get_window_extent(renderer))
            for text in (*figure.texts, *axes.get_xticklabels())
            if text.get_text()
        ]
    page = figure.bbox.padded(1)
    for text, box in boxes:
        assert page.contains(*box.min), (text, box)
        assert page.contains(*box.max), (text, box)
        assert not set(map(ord, text.get_text())) & {0, 10, 13, 27, 0x202E}
        assert not text.get_parse_math() or text in axes.get_xticklabels()
    names = [box for text, box in boxes if text in figure.texts and text.get_ha() == "left"]
    right = [box for text, box in boxes if text in figure.texts and text.get_ha() == "right"]
    assert not any(one.padded(-1).overlaps(other) for one in names for other in right)


@pytest.mark.filterwarnings("ignore:Glyph")
@given(names=st.lists(NAMES, min_size=1, max_size=5, unique=True), width=st.floats(2.5, 12))
@settings(max_examples=12, deadline=None, phases=[Phase.generate])
def test_names_of_any_kind_stay_inside_at_any_width(names: list[str], width: float) -> None:
    rows = [row(str(n), model=name, task=name[::-1]) for name in names for n in range(3)]
    summary = summarise(rows, {})
    with mpl.rc_context({"font.size": 8.0, "font.family": ["DejaVu Sans"]}):
        assert_inside(forest_of(dict.fromkeys(names[:2], summary)), width)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_forty_lines_stay_inside_and_apart() -> None:
    rows = [row(str(n), model=f"provider/model-{m}") for m in range(40) for n in range(3)]
    with mpl.rc_context({"font.size": 8.0, "font.family": ["DejaVu Sans"]}):
        found = forest_of({"run": summarise(rows, {})})
        assert_inside(found, 3.3)
        heights = [one.get_position()[1] for one in forest_figure(found, 3.3).texts]
    assert len(set(heights)) == 1 + 1 + 40


def test_variants_stand_in_the_group_of_their_task_and_runs_beside_each_other() -> None:
    rows = [row("1", task=f"sums[{name}]", model=m) for name in ("long", "short") for m in "ab"]
    found = forest_of({"before": summarise(rows, {}), "after": summarise(rows, {})})
    [group] = found.groups
    assert group.title == "sums"
    named = [(line.name, line.run) for line in group.lines]
    assert named[:3] == [("a · [long]", 0), ("a · [long]", 1), ("b · [long]", 0)]
    assert len(named) == 8
    assert {"before", "after"} <= set(texts(drawn(found, "svg")))


def test_runs_differ_in_grey_too() -> None:
    from pytest_llmeval.report.figures.forest_plot import _RUNS  # noqa: PLC0415

    assert len({marker for _, marker in _RUNS}) == len(_RUNS)


def test_a_score_has_its_own_scale_and_tasks_without_it_are_named(run: Run) -> None:
    found = forest_of({"a": run.summary}, metric="EED")
    assert (found.scale, found.percent) == (100.0, False)
    rows = [row("1", scores=eed(50.0)), row("1", task="other")]
    assert forest_of({"a": summarise(rows, {})}, metric="EED").left_out == ("other",)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"metric": "F1"}, "--metric F1: no task has it; there are: accuracy, EED"),
        ({"tasks": ["nope"]}, "--task nope: no such task in the runs; there are: demo"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(run: Run, choice: Any, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        forest_of({"a": run.summary}, **choice)


def test_the_command_writes_the_file_that_is_named(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "accuracy.pdf"
    assert main(["plot", str(run.path), "--to", str(file)]) == 0
    assert file.read_bytes() == drawn(forest(run), "pdf")
    assert "(lines: 3, tasks: 1)" in capsys.readouterr().out
    assert main(["plot", str(run.path), "--to", str(tmp_path / "a.gif")]) == 2
    assert "ends in .svg, .pdf, .png" in capsys.readouterr().err
    assert main(["plot", str(run.path), "--to", str(tmp_path / "no" / "a.svg")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_missing_extra_is_one_error_that_names_it(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["plot", str(run.path), "--to", str(tmp_path / "a.svg")]) == 2
    assert "pip install 'pytest-llmeval-suite[figures]'" in capsys.readouterr().err
