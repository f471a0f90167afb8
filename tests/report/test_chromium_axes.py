"""Labels of axes, tables and plots in a real browser: none meets another, none leaves its place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from report.html_run import row, write_report, write_run

from pytest_llmeval.records import Row, Score, Usage
from pytest_llmeval.results.task_info import TaskInfo

WIDTHS = (320, 390, 560, 800, 1100, 1600)

WORDS = (
    "a",
    "right triangles",
    "a_name_of_a_group_without_any_blank_that_goes_on_and_on_and_on_to_the_end",
    "一个没有空格的非常长的组名称它一直继续下去直到最后一个字为止",
    "اسم طويل جدا لمجموعة مكتوبة من اليمين إلى اليسار",
    "W" * 80,
    "10,000",
    "—",
)
NAMES = st.one_of(
    st.sampled_from(WORDS),
    st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=60),
)


FEW_NAMES = st.lists(NAMES, min_size=1, max_size=3, unique=True)
SHARES = (0.0, 0.26, 0.5, 0.51)
"""Scores of the first samples, in parts of the scale; all others have full ones."""


DEAREST = 1e8
"""Dollars of a sample."""


@dataclass(frozen=True)
class Shape:
    """What a run looks like: names, the scale of its scores, what its rows cost, how many."""

    groups: list[str]
    models: list[str]
    tasks: list[str]
    scale: float
    cost: float | None
    spread: float
    repeats: int

    def rows(self) -> Iterator[Row]:
        """Yield the rows; one under the next model costs `spread` times as much, up to DEAREST."""
        for place, (task, model) in enumerate(itertools.product(self.tasks, self.models)):
            price = None if self.cost is None else min(DEAREST, self.cost * self.spread**place)
            for number in range(len(self.groups) * self.repeats):
                share = SHARES[number] if number < len(SHARES) else 1.0
                value = self.scale * share
                yield row(
                    task,
                    str(number),
                    "correct" if share == 1 else "incorrect",
                    model=model,
                    scores=(Score(name="s", value=value, scale=self.scale, correct=share == 1),),
                    groups={"kind": (self.groups[number % len(self.groups)],)},
                    usage=Usage(input_tokens=9, output_tokens=7**place, requests=1, cost=price),
                )


SHAPES = st.builds(
    Shape,
    groups=st.lists(NAMES, min_size=1, max_size=8, unique=True),
    models=FEW_NAMES,
    tasks=FEW_NAMES,
    scale=st.sampled_from([1.0, 5.0, 10.0, 100.0, 0.001, 123_456.0, 1e6]),
    cost=st.sampled_from([None, 1e-9, 0.003, 12.0]),
    spread=st.sampled_from([1, 1.5, 10, 1_000]),
    repeats=st.sampled_from([1, 3, 40]),
)


def report_of(folder: Path, rows: list[Row]) -> str:
    """Write the report of rows, whose tasks are grouped by kind, and return its address."""
    infos = {one.task: TaskInfo(title=one.task, group_by=("kind",)) for one in rows}
    return write_report(write_run(folder, [(one, None) for one in rows], tasks=infos)).as_uri()


@pytest.fixture(scope="module")
def page(chromium: Any) -> Any:
    return chromium.new_page()


@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(shape=SHAPES)
def test_no_label_meets_another_or_leaves_its_figure_at_any_width(
    page: Any, tmp_path_factory: pytest.TempPathFactory, shape: Shape
) -> None:
    page.goto(report_of(tmp_path_factory.mktemp("reports"), list(shape.rows())))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(MISPLACED) == [], width


def test_a_hundred_points_in_one_place_show_no_number_over_another(
    page: Any, tmp_path: Path
) -> None:
    rows = [
        row(f"t{task}", "1", "correct", model=f"m{model}", usage=Usage(output_tokens=7, requests=1))
        for task in range(20)
        for model in range(5)
    ]
    page.set_viewport_size({"width": 320, "height": 900})
    page.goto(report_of(tmp_path, rows))
    assert page.locator(".scatter .mark").all_text_contents() == ["1"]
    assert page.evaluate(MISPLACED) == []


def test_labels_inside_an_axis_are_shown_where_they_have_room(page: Any, tmp_path: Path) -> None:
    rows = [row("a", str(n), "correct", groups={"kind": ("x",)}) for n in range(3)]
    page.goto(report_of(tmp_path, rows))
    shown = {}
    for width in (320, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        shown[width] = page.evaluate(
            "[...document.querySelector('.dots .ticks').querySelectorAll('text')]"
            ".filter((one) => one.getBoundingClientRect().width).map((one) => one.textContent)"
        )
    assert shown == {320: ["0", "100 %"], 1400: ["0", "25", "50", "75", "100 %"]}


MISPLACED = """
() => {
  const box = (one) => one.getBoundingClientRect();
  const seen = (one) => box(one).width > 0;
  const meet = (a, b) => a.left < b.right && b.left < a.right
    && a.top < b.bottom && b.top < a.bottom;
  const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1;
  const found = [];
  for (const axis of document.querySelectorAll('svg.ticks, svg.histogram, .scatter')) {
    const texts = [...axis.querySelectorAll('text')].filter(seen);
    const figure = box(axis.closest('figure, .matrix, .pair'));
    texts.forEach((one, at) => {
      for (const other of texts.slice(at + 1))
        if (meet(box(one), box(other))) found.push(['meet', one.textContent, other.textContent]);
      if (!axis.closest('.layer') && !within(box(one), figure))
        found.push(['leaves', one.textContent]);
    });
  }
  for (const cell of document.querySelectorAll('.dots th, .dots td, .layer th, .layer td')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (!node.data.trim() || node.parentElement.closest('.hidden, svg')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      if (box(range).width && !within(box(range), box(cell)))
        found.push(['leaves its cell', node.data]);
    }
  }
  return found;
}
"""
"""Texts of an axis that meet, and texts that leave their figure or their cell."""
