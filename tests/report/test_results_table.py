from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from example_rows import eed, row
from rich.cells import cell_len

from pytest_llmeval.records import Display, Row, Score, Usage
from pytest_llmeval.report.table import render_gate, render_table
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import Published, ScoreInfo, TaskInfo

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07[red]bold[/red] | <script>alert(1)</script>\n\u202eevil\u200b\r"
    + "A" * 1_000_000
    + "漢字" * 50
)
USAGE = Usage(input_tokens=1000, output_tokens=250, requests=1, cost=0.02)


def formula_rows(**fields: Any) -> list[Row]:
    """Return ten formulas: five right, three nearly right, an error and one not run."""
    tags = ["OPTICS", "MECHANICS"]
    rows = [
        row(
            str(i),
            "correct",
            scores=eed(100, 100),
            usage=USAGE,
            seconds=2.0,
            groups={"tag": (tags[i % 2],)},
            **fields,
        )
        for i in range(5)
    ]
    rows += [
        row(
            str(i),
            "incorrect",
            scores=eed(40, 10),
            usage=USAGE,
            seconds=4.0,
            groups={"tag": (tags[i % 2],)},
            **fields,
        )
        for i in range(5, 8)
    ]
    rows.append(row("8", "error", usage=USAGE, groups={"tag": ("OPTICS",)}, **fields))
    rows.append(row("9", "not run", groups={"tag": ("MECHANICS",)}))
    return rows


def drawn(rows: Sequence[Row], width: int = 100, *, color: bool = False, **info: Any) -> str:
    info = {"title": "demo", **info}
    return render_table(summarise(rows, {"demo": TaskInfo(**info)}), width=width, color=color)


def cells(text: str, label: str) -> list[str]:
    """Return the cells of all lines that a label starts, in order."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(f"{label}  ")]
    return [cell for line in lines for cell in re.split(r" {2,}", line)[1:]]


def test_the_table_tells_every_figure_with_its_n_and_scale() -> None:
    text = drawn(formula_rows(), 140, group_by=("tag",))
    # 5 of 8: Wilson 30.6 to 86.3. EED (5 * 100 + 3 * 40) / 8 = 77.5, published (500 + 30) / 8 =
    # 66.25.
    figures = cells(text, "all")
    assert figures[:4] == ["62.5 %", "30.6–86.3", "8 of 10", "77.5"]
    assert figures[5:11] == ["66.2", "5", "3", "1", "0", "1"]
    assert figures[11:] == ["9,000", "2,250", "$0.18", "22.0", "2.0", "4.0", "0"]
    assert "EED 0–100" in text
    assert "EED published 0–100" in text


def test_groups_stand_under_their_model_with_figures_of_their_own() -> None:
    text = drawn(formula_rows(), 140, group_by=("tag",))
    assert cells(text, "MECHANICS")[:3] == ["50.0 %", "15.0–85.0", "4 of 5"]
    assert cells(text, "OPTICS")[2] == "4 of 5"


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 300])
def test_no_line_is_wider_than_the_terminal_and_each_figure_is_shown_or_named(width: int) -> None:
    text = drawn(formula_rows(), width, group_by=("tag",))
    assert max(map(cell_len, text.splitlines())) <= width
    _, _, left_out = " ".join(text.split()).partition(f"not shown in {width} columns: ")
    assert left_out.endswith("; see report.html") or not left_out
    figures = {
        "accuracy": "62.5 %",
        "scored": "8 of 10",
        "EED 0–100": "77.5",
        "EED published 0–100": "66.2",
        "cost": "$0.18",
        "tokens in": "9,000",
        "tokens out": "2,250",
    }
    for head, figure in figures.items():
        assert (figure in text) != (head in re.split(", |; ", left_out))


@pytest.mark.parametrize("width", [40, 80, 140])
def test_hostile_text_neither_reaches_the_terminal_nor_breaks_a_line(width: int) -> None:
    rows = [
        row(
            str(i),
            task=HOSTILE,
            model=f"{HOSTILE}{i}",
            test=f"t.py::{HOSTILE}{i}",
            groups={"tag": (HOSTILE,), HOSTILE: (HOSTILE[::-1],)},
            scores=(Score(name=HOSTILE[:100], value=0.3, correct=True),),
            details={HOSTILE: True},
            versions={HOSTILE: i},
            stop_reason="length",
        )
        for i in range(3)
    ]
    info = TaskInfo(title=HOSTILE, metrics=(HOSTILE,), group_by=("tag", HOSTILE))
    text = render_table(summarise(rows, {HOSTILE: info}), width=width, color=False)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", text)
    assert "owned" not in text
    assert "[red]" in text
    assert max(map(cell_len, text.splitlines())) <= width
    assert len(text) < 30_000


def test_color_changes_the_looks_and_not_the_text() -> None:
    rows = formula_rows(recorded=True)
    colored = drawn(rows, 80, color=True, group_by=("tag",))
    assert "\x1b[1m" in colored
    plain = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", colored).splitlines()]
    assert plain == drawn(rows, 80, group_by=("tag",)).splitlines()


def test_the_environment_does_not_change_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn(formula_rows(), 80, color=True)
    for name, value in {
        "NO_COLOR": "1",
        "COLUMNS": "40",
        "TERM": "dumb",
        "FORCE_COLOR": "1",
    }.items():
        monkeypatch.setenv(name, value)
    assert drawn(formula_rows(), 80, color=True) == before


def test_the_title_says_that_no_live_model_ran() -> None:
    assert "Recorded replies ran; no live model did." in drawn(formula_rows(recorded=True))
    mixed = drawn([*formula_rows(recorded=True), row("live", scores=eed(1))])
    assert "Recorded replies ran in 9 of 11 rows." in mixed
    assert "ecorded" not in drawn(formula_rows())


def test_the_title_says_how_many_rows_other_runs_answered() -> None:
    text = drawn([row("1", cached=True, age=200_000.0), row("2", cached=True, age=10.0), row("3")])
    assert "2 of 3 rows are cached from other runs, the oldest 2 d old." in text


def test_demo_data_is_called_so_and_literature_stays_away_from_it() -> None:
    def figure(name: str, metric: str, value: float, source: str = "paper, table 4") -> Published:
        return Published(name=name, metric=metric, value=value, source=source)

    published = (
        figure("o3-high", "accuracy", 0.3458),
        figure("o3-high", "eed_published", 46.30),
        figure("o3-high", "bleu", 7.0),
        figure("students", "accuracy", 0.619),
        figure("others", "bleu", 3.0, "another paper"),
    )
    public = drawn(formula_rows(), 80, published=published)
    assert "(demo data)" not in public
    [place] = [
        place
        for place, line in enumerate(public.splitlines())
        if line == "published: paper, table 4"
    ]
    assert re.search(r"accuracy +EED published 0–100$", public.splitlines()[place + 1])
    assert cells(public, "o3-high") == ["34.6 %", "46.3"]
    assert cells(public, "students") == ["61.9 %", "–"]
    assert "another paper" not in public  # the run has nothing to set beside it
    demo = drawn(formula_rows(), 80, published=published, demo=True)
    assert "demo (demo data) · openai/small" in demo
    assert "o3-high" not in demo


def test_beside_published_figures_the_title_says_when_only_a_part_ran() -> None:
    published = (Published(name="o3", metric="accuracy", value=0.3, source="paper"),)
    assert "demo · openai/small · 10 of 100 samples ─" in drawn(
        formula_rows(), published=published, whole=100
    )
    assert "of 10 samples" not in drawn(formula_rows(), published=published, whole=10)


def test_a_figure_that_is_not_there_is_a_dash_and_not_a_zero() -> None:
    figures = cells(drawn([row("1", "error", usage=Usage())]), "all")
    assert figures[:3] == ["–", "–", "0 of 1"]
    assert "0.0 %" not in figures


def test_a_score_of_zero_or_one_that_repeats_the_accuracy_has_no_column_and_validity_has() -> None:
    rows = [
        row(
            str(i),
            "correct" if i else "incorrect",
            scores=(
                Score(name="SLDP", value=float(i), correct=bool(i), details={"valid_sldp": True}),
            ),
            details={"valid_cypher": bool(i)},
        )
        for i in range(2)
    ]
    sldp = Display(shares=("valid_sldp",), headings={"valid_sldp": "valid SLDP"})
    cypher = Display(shares=("valid_cypher",), headings={"valid_cypher": "valid Cypher"})
    text = drawn(rows, 140, scores=(ScoreInfo(name="SLDP", display=sldp),), display=cypher)
    assert "SLDP 0–1" not in text
    assert cells(text, "all")[3:5] == ["50.0 %", "100.0 %"]
    assert re.search(r"valid Cypher +valid SLDP", text)


def test_epochs_show_their_pass_rates() -> None:
    rows = [
        row(str(i), "correct" if epoch == 1 else "incorrect", epoch=epoch)
        for i in range(4)
        for epoch in (1, 2)
    ]
    text = drawn(rows, 140)
    assert re.search(r"pass@2 +pass\^2", text)
    assert cells(text, "all")[3:5] == ["100.0 %", "0.0 %"]


def test_two_models_are_rows_of_one_table_with_both_ends_of_their_names() -> None:
    names = (
        "azure/a-very-long-deployment-name-2025-04-14",
        "azure/a-very-long-deployment-name-2025-08-07",
    )
    text = drawn([row("1", model=name) for name in names], 80)
    labels = [
        line.split("  ")[0]
        for line in text.splitlines()
        if "%" in line and line.startswith("azure")
    ]
    assert len(labels) == len(set(labels)) == 2
    assert all(label.startswith("azure/a-v") for label in labels)


def test_cut_replies_reruns_and_mixed_versions_are_told() -> None:
    rows = [
        row("1", stop_reason="length", reports=2, versions={"prompt": "ab"}),
        row("2", versions={"prompt": "cd"}),
    ]
    text = drawn(rows)
    assert "all: cut replies: length 1." in text
    assert "all: mixed rows: prompt is ab and cd." in text
    assert "reruns" in text


def test_title_and_notes_tell_an_engine_that_stood_in_for_another() -> None:
    text = " ".join(drawn([row("1", engine="arcadedb", stands_in_for="Neo4j"), row("2")]).split())
    assert "· arcadedb, not Neo4j ·" in text
    assert (
        "all: arcadedb stood in for Neo4j in 1 of 2 rows, and may answer otherwise: "
        "these are no results of Neo4j."
    ) in text
    own = drawn([row("1", engine="neo4j"), row("2")])
    assert "not Neo4j" not in own
    assert "stood in" not in own


def test_an_empty_run_has_an_empty_table() -> None:
    assert render_table(summarise([], {}), width=80, color=False).strip() == ""


@pytest.mark.parametrize("width", [40, 80])
def test_a_gate_shows_each_rule_and_why_it_did_not_pass(width: int) -> None:
    text = render_gate(
        check(Gate(), summarise(formula_rows(recorded=True), {})), width=width, color=False
    )
    assert text.lstrip().startswith("gate not passed: 2 of 3 rules")
    assert len(re.findall(r" fail$", text, re.MULTILINE)) == 2
    assert "8 of 10 planned samples were scored (1 error" in " ".join(text.split())
    assert max(map(cell_len, text.splitlines())) <= width


def test_a_gate_over_nothing_says_so() -> None:
    assert "the run holds no rows" in render_gate(
        check(Gate(), summarise([], {})), width=80, color=False
    )
