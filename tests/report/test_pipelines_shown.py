"""Pipelines as they are shown: on a terminal, in the report and in pipelines.csv."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from example_rows import row
from report.html_run import write_report, write_run
from rich.cells import cell_len

from pytest_llmeval.records import Display, Outcome, Row
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.pipeline_sheet import PipelineSection, pipeline_sections
from pytest_llmeval.report.pipelines_csv import pipeline_lines
from pytest_llmeval.report.table import render_pipelines
from pytest_llmeval.results.pipelines import Pipelines, pipelines, pipelines_of
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import TaskInfo

HOSTILE = "=cmd|<script>alert(1)</script>\u202e\x1b[2J\n"


def asked(task: str, sample: str, outcome: Outcome, **fields: Any) -> Row:
    """Return a row of a task that asked the same as the others."""
    told = {"model": "m", "question": "digest", "target": "t", **fields}
    return row(sample, outcome, task=task, test=f"test_{task}.py::test_all", **told)


def table(tasks: Sequence[str], samples: int, wrong_from: int) -> list[Row]:
    """Return rows of tasks that are all right, but the last one from a sample on."""
    return [
        asked(task, str(number), "incorrect" if wrong and number >= wrong_from else "correct")
        for task in tasks
        for wrong in [task == tasks[-1]]
        for number in range(samples)
    ]


def found(rows: Sequence[Row], info: TaskInfo | None = None) -> tuple[Pipelines, ...]:
    tasks = {} if info is None else {line.task: info for line in rows}
    return pipelines({"": rows}, tasks)


def sections(rows: Sequence[Row], models: int = 1) -> tuple[PipelineSection, ...]:
    return pipeline_sections(found(rows) * models, Addresses(rows))


def test_each_outcome_in_the_report_leads_to_the_page_of_its_row(tmp_path: Path) -> None:
    rows = [
        asked(task, str(number), "correct" if number % 3 else "incorrect", model=model)
        for task in ("query", "agent", "context")
        for model in ("one", "other")
        for number in range(12)
        if (task, number) != ("agent", 11)
    ]
    folder = write_run(tmp_path, [(line, None) for line in rows])
    run = read_run(folder)
    shown = pipelines_of(run.rows, summarise(run.rows, {}))
    page = write_report(folder, pipelines=shown).read_text()
    outcomes = {(line.task, line.sample, line.model): line.outcome for line in rows}
    links = 0
    for part, model in zip(page.split('class="figures asked"')[1:], ("one", "other"), strict=True):
        lines = re.findall(r'<tr><th scope="row">(\d+)</th>(.*?)</tr>', part, re.DOTALL)
        assert [sample for sample, _ in lines] == [str(number) for number in range(12)]
        for sample, cells in lines:
            for task, cell in zip(
                ("agent", "context", "query"), cells.split("<td")[2:], strict=True
            ):
                link = re.search(r'href="#([^"]+)"', cell)
                assert (link is None) == ((task, sample) == ("agent", "11"))
                if link is not None:
                    links += 1
                    assert unescape(link[1]) == f"{task}/{sample}/{model}/1"
                    assert f">{outcomes[task, sample, model]}<" in cell
    assert links == 2 * (36 - 1)


@pytest.mark.parametrize("samples", [300, 301, 3000])
def test_a_long_list_holds_only_samples_that_differ(samples: int) -> None:
    (section,) = sections(table(("a", "b"), samples, samples - 5))
    assert section.samples == samples
    assert len(section.lines) == (samples if samples <= 300 else 5)
    assert bool(section.remark) == (samples > 300)


def test_many_pipelines_and_models_do_not_make_a_page_without_end() -> None:
    tasks = [f"task {number}" for number in range(10)]
    shown = sections(table(tasks, 700, 0), models=4)
    assert sum(len(line.cells) for one in shown for line in one.lines) <= 6_000
    assert all(one.lines for one in shown)
    assert "pipelines.csv holds all 700" in shown[0].remark


def test_epochs_are_counted_in_the_report_and_stand_apart_in_the_csv() -> None:
    outcomes: tuple[Outcome, ...] = ("correct", "correct", "error")
    rows = [asked("a", "1", "correct", epoch=epoch) for epoch in (1, 2)]
    rows += [asked("b", "1", one, epoch=epoch) for epoch, one in enumerate(outcomes, 1)]
    (section,) = sections(rows)
    assert [cell.text for cell in section.lines[0].cells] == [
        "2 × correct",
        "2 × correct, 1 × error",
    ]
    lines = list(csv.DictReader(io.StringIO("".join(pipeline_lines(found(rows))))))
    told = [(line["epoch"], line["a"], line["b"]) for line in lines]
    assert told == [
        ("1", "correct", "correct"),
        ("2", "correct", "correct"),
        ("3", "", "error"),
    ]


def test_the_csv_holds_the_shares_that_a_task_declares() -> None:
    info = TaskInfo(title="t", display=Display(shares=("valid_query",)))
    rows = [asked("a", "1", "incorrect", details={"valid_query": False})]
    rows += [asked("b", "1", "correct", details={"valid_query": True})]
    lines = list(csv.DictReader(io.StringIO("".join(pipeline_lines(found(rows, info))))))
    assert [(line["a:valid_query"], line["b:valid_query"]) for line in lines] == [("False", "True")]


def test_what_others_wrote_is_no_code_anywhere(tmp_path: Path) -> None:
    rows = [asked(HOSTILE + task, HOSTILE, "correct", model=HOSTILE) for task in "ab"]
    folder = write_run(tmp_path, [(line, None) for line in rows])
    page = write_report(folder, pipelines=found(rows)).read_text()
    section = page.split('<section id="pipelines"')[1].split("</section>")[0]
    assert "<script" not in section
    assert "<script>alert(1)</script>" in unescape(section)
    printed = render_pipelines(found(rows), width=100, color=False)
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", section + printed)
    cells = [cell for line in csv.reader(pipeline_lines(found(rows))) for cell in line]
    assert not [cell for cell in cells if cell.startswith("=")]


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("pipelines_ran", [2, 5, 30])
def test_no_line_is_wider_than_the_terminal(width: int, pipelines_ran: int) -> None:
    tasks = [f"a_rather_long_name_of_a_task_{number}" for number in range(pipelines_ran)]
    text = render_pipelines(found(table(tasks, 8, 2)), width=width, color=False)
    assert max(map(cell_len, text.splitlines())) <= width
