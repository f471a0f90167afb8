"""What the HTML report holds, read as text; test_chromium_*.py open it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report.html_run import (
    ATTACK,
    LONG,
    PICTURE,
    call,
    example_run,
    formula,
    graph,
    hostile,
    pictured,
    row,
    write_report,
    write_run,
)

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Message, Transcript
from pytest_llmeval.report import page_data
from pytest_llmeval.report.html import Against
from pytest_llmeval.results.baseline import baseline_of_run
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.gate import Bounds, Gate, Rule
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.rescoring import rescoring
from pytest_llmeval.results.stored_run import read_run, read_summary
from pytest_llmeval.results.task_info import TaskInfo


def element(page: str, name: str) -> str:
    """Return what stands in the script element with an id."""
    found = re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None, name
    return found[1]


def data(page: str) -> dict[str, Any]:
    return dict(json.loads(element(page, "data")))


def evidence(page: str, sample: str) -> dict[str, Any]:
    """Return what the page knows of a sample."""
    told = data(page)
    number = next(number for number, values in enumerate(told["rows"]) if values[0] == sample)
    chunk, slot = told["places"][number]
    found = json.loads(zlib.decompress(base64.b64decode(element(page, f"chunk-{chunk}"))))
    return dict(found[slot])


def text(page: str) -> str:
    """Return what a reader sees before any script runs, on one line."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page[page.index("<body") :], flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_run(tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="module")
def page(run: Path) -> str:
    return write_report(run).read_text(encoding="utf-8")


def test_figures_stand_in_the_page_without_any_script(page: str) -> None:
    told = text(page)
    # 1 of 5 formulas is right: Wilson 3.6 to 62.4.
    assert (
        "physics openai/small · test_physics 5 of 5 scored accuracy 20.0 % 95 %: 3.6–62.4" in told
    )
    assert "Accuracy by tag" in told
    assert "EED by tag" in told
    assert "Distribution of EED · n 5" in told
    assert "1 of 3 scored" in told


def test_an_engine_that_stood_in_for_another_is_told_above_the_figures(page: str) -> None:
    told = text(page)
    assert "graph · arcadedb, not Neo4j" in told
    assert "arcadedb stood in for Neo4j in 1 of " in told
    assert "physics · arcadedb" not in told


def test_cost_stands_against_score_for_each_task(page: str) -> None:
    # Each row cost a cent, except the one of graph that did not run: so graph is the cheapest.
    assert re.search(r"US dollars a sample accuracy 95 % 1 graph \$0\.00", text(page))
    assert re.search(r"2 geometry \$0\.01 0\.0 %", text(page))


def test_every_row_is_in_the_table_in_the_order_of_task_and_number(page: str) -> None:
    told = data(page)
    place = told["columns"].index("part")
    rows = [(told["parts"][values[place]]["task"], values[0]) for values in told["rows"]]
    formulas = [("physics", str(number)) for number in (9, 10, 11, 12, 13)]
    assert rows == [("geometry", "7"), ("graph", "H1"), ("graph", "H2"), ("graph", "H3"), *formulas]


def test_the_evidence_of_a_formula_is_its_text_trees_and_messages(page: str) -> None:
    told = evidence(page, "10")
    assert (told["answer"], told["formulas"]) == ("3a+b", True)
    assert told["scores"][0]["trees"]["target"][-1][1] == 2
    assert told["messages"] == [
        {"role": "user", "parts": ["Find the formula number 10."], "tools": [], "answers": ""}
    ]
    assert told["events"][0]["messages"] == [0]
    assert evidence(page, "H1")["formulas"] is False


def test_a_picture_is_carried_byte_for_byte(page: str) -> None:
    told = data(page)["pictures"]
    (entry,) = told.values()
    assert entry == {"at": 0, "type": "image/png"}
    assert zlib.decompress(base64.b64decode(element(page, "picture-0"))) == PICTURE.read_bytes()


def test_a_picture_whose_bytes_are_not_those_named_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(PICTURE.read_bytes())
    sample = pictured(path=file)
    file.write_bytes(b"root:x:0:0")
    told = write_report(write_run(tmp_path, [sample])).read_text(encoding="utf-8")
    (entry,) = data(told)["pictures"].values()
    assert "not to be found" in entry["missing"]
    assert base64.b64encode(b"root").decode()[:5] not in told


def test_only_the_scripts_and_styles_of_the_page_are_let_through(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for name, rule in (("script", "script-src"), ("style", "style-src")):
        body = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        assert len(body) == 1
        digest = base64.b64encode(hashlib.sha256(body[0].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_hostile_texts_open_and_close_nothing(tmp_path: Path) -> None:
    info = {
        "settings": {ATTACK: ATTACK, "models": [ATTACK]},
        "versions": {"x": ATTACK},
        "git": {"commit": ATTACK},
    }
    tasks = {ATTACK: TaskInfo(title=ATTACK, group_by=(ATTACK,))}
    plain = write_report(write_run(tmp_path, [graph()])).read_text(encoding="utf-8")
    page = write_report(
        write_run(tmp_path, [graph(), hostile()], info=info, tasks=tasks)
    ).read_text(encoding="utf-8")
    assert page.count("<script") == plain.count("<script")
    for opened in ("<iframe", "<img", "<math", "<svg onload", '<a href="javascript'):
        assert page.count(opened) == plain.count(opened)
    assert not re.search("[\u2028\u2029\u202e\x00\x1b]", page)
    told = evidence(page, data(page)["rows"][0][0])
    assert told["answer"] == ATTACK
    assert told["events"][0]["messages"] == [0]
    assert told["messages"][0]["parts"][2] == {"text": LONG[:40_000], "of": 1_000_000}


def test_replies_that_were_scored_again_have_their_changes_in_the_report(tmp_path: Path) -> None:
    before, after = (
        write_run(tmp_path / name, [formula("1", said, "2a+b")])
        for name, said in (("a", "3a+b"), ("b", "2a+b"))
    )
    again = rescoring("<then>", read_run(before).rows, read_run(after).rows)
    page = write_report(after, again=again).read_text(encoding="utf-8")
    assert '<a href="#again">Scored again</a>' in page
    assert "scored again from &lt;then&gt;: 1 changed, 0 the same" in text(page)
    assert "incorrect correct" in text(page)
    assert "cause answer: 1" in text(page)
    assert "again" not in text(write_report(after).read_text(encoding="utf-8"))


def test_a_gate_a_comparison_and_a_note_on_recorded_replies_stand_on_top(tmp_path: Path) -> None:
    before = [
        formula("1", "3a+b", "2a+b"),
        formula("2", "2a+b", "2a+b"),
        formula("3", "2a+b", "2a+b"),
    ]
    after = [formula("1", "2a+b", "2a+b"), formula("2", "2a+b", "2a+b"), formula("3", "a", "2a+b")]
    recorded = row("physics", "4", "correct", recorded=True)
    a, b = (
        write_run(tmp_path / name, rows)
        for name, rows in (("a", before), ("b", [*after, (recorded, None)]))
    )
    rule = Rule(task="physics", metric="accuracy", bounds=Bounds(minimum=0.9))
    gate = check(Gate(rules=(rule,), recorded_allowed=True), read_summary(b))
    before_run, after_run = read_run(a), read_run(b)
    comparison = compare(before_run.rows, after_run.rows)
    target = tmp_path / "elsewhere.html"
    page = write_report(
        b,
        target,
        gate=gate,
        against=Against(
            baseline=replace(baseline_of_run(before_run), name="main"), comparison=comparison
        ),
    ).read_text()
    told = text(page)
    assert target.is_file()
    assert not (b / "report.html").exists()
    assert "Recorded replies ran in 1 of 4 rows." in told
    assert "gate not passed: 1 of" in told
    assert "a is main, b is this run." in told
    assert "Correct more often in b: 1" in told
    assert '<h5><a href="#physics/1/openai%2Fsmall/1">1</a></h5>' in page


def test_a_killed_run_has_a_report_too(tmp_path: Path) -> None:
    run = write_run(tmp_path, [graph(), formula("1", "a", "b")])
    (run / "summary.json").unlink()
    with (run / "rows.jsonl").open("a") as file:
        file.write('{"test": "cut o')
    told = text(write_report(run).read_text(encoding="utf-8"))
    assert "rows.jsonl: line 3 was cut off" in told
    assert "physics" in told


def test_of_several_transcripts_of_a_row_the_last_is_shown(tmp_path: Path) -> None:
    sample, _ = graph()
    twice = [
        (sample, Transcript(events=(call(Message.of("user", text)),)))
        for text in ("first", "second")
    ]
    page = write_report(write_run(tmp_path, twice)).read_text(encoding="utf-8")
    assert evidence(page, "H1")["messages"][0]["parts"] == ["second"]


def test_a_report_without_rows_says_so(tmp_path: Path) -> None:
    assert "rows 0" in text(write_report(write_run(tmp_path, [])).read_text(encoding="utf-8"))
    with pytest.raises(UsageError, match="no run here"):
        write_report(tmp_path / "nowhere")


def test_what_does_not_fit_is_cut_and_still_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_data, "MAX_BYTES", page_data._FRAME + 40_000)
    noise = [hashlib.sha256(bytes([number])).hexdigest() * 300 for number in range(30)]
    many = [
        (
            row("graph", f"{number:02}", "correct"),
            Transcript(events=(call(Message.of("user", text)),)),
        )
        for number, text in enumerate(noise)
    ]
    page = write_report(write_run(tmp_path, many)).read_text(encoding="utf-8")
    assert len(data(page)["rows"]) == 30
    assert evidence(page, "00")["messages"][0]["parts"][0]["of"] == len(noise[0])
    assert len(page) < 40_000 + page_data._FRAME
