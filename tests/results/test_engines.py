"""What answered the tools of a run: told, compared, merged, and read from older files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from example_rows import row

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Row, ToolUse, Transcript, Usage
from pytest_llmeval.report.table import render_comparison, render_table
from pytest_llmeval.results.baseline import Baseline, baseline_of, read_baseline, write_baseline
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.gate_result import RuleResult
from pytest_llmeval.results.merge import merged_rows
from pytest_llmeval.results.regression import check_against
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import StoredRun, read_run, read_summary, read_transcripts
from pytest_llmeval.results.summarise import summarise

DIFFER = "ENGINES DIFFER: a difference may be theirs, and not the models'"


def run(engine: str, n: int = 100) -> list[Row]:
    """Return so many right answers by way of an engine; "" is a run that names none."""
    other = "Neo4j" if engine == "arcadedb" else ""
    usage = Usage(requests=1, input_tokens=10)
    return [row(f"{i:03}", engine=engine, stands_in_for=other, usage=usage) for i in range(n)]


def against(rows: Sequence[Row], then: Baseline, metric: str) -> RuleResult:
    gate = parse_gate(
        f"stand_in: allowed\nrules: {{demo.{metric}: {{max_drop: 0.1, max_rise: 0.1}}}}",
        "gates.yaml",
    )
    comparison = compare(then.rows, rows, confidence=1 - gate.significance)
    return check_against(gate, summarise(rows, {}), then, comparison).results[-1]


def baseline(rows: Sequence[Row]) -> Baseline:
    return baseline_of("then", rows, summarise(rows, {}))


def said(text: str) -> str:
    return " ".join(text.split())


def test_a_transcript_names_the_engines_of_its_uses_each_once() -> None:
    uses = [
        ToolUse(stage="s", tool="ArcadeDB/1", input="q", engine=engine, stands_in_for=other)
        for engine, other in (("b", "Neo4j"), ("", ""), ("a", ""), ("b", "Neo4j"))
    ]
    transcript = Transcript(events=tuple(uses))
    assert (transcript.engine, transcript.stands_in_for) == ("a, b", "Neo4j")
    assert (Transcript().engine, Transcript().stands_in_for) == ("", "")


@pytest.mark.parametrize(
    ("a", "b"), [("neo4j", "arcadedb"), ("arcadedb", "neo4j"), ("", "neo4j"), ("neo4j", "")]
)
def test_a_comparison_of_two_engines_says_so(a: str, b: str) -> None:
    text = said(render_comparison(compare(run(a), run(b)), width=100, color=False))
    assert f"engine differs: a {a or 'none'}, b {b or 'none'}" in text
    assert DIFFER in text
    same = said(render_comparison(compare(run(a), run(a)), width=100, color=False))
    assert "DIFFER" not in same


@pytest.mark.parametrize(("a", "b"), [("neo4j", "arcadedb"), ("", "neo4j")])
def test_no_rule_on_a_change_passes_between_two_engines(tmp_path: Path, a: str, b: str) -> None:
    write_baseline(baseline(run(a)), tmp_path / "main.jsonl")
    for then in (baseline(run(a)), read_baseline(tmp_path / "main.jsonl")):
        result = against(run(b), then, "accuracy")
        assert result.status == "missing"
        assert result.reason.startswith(f"engines differ ({a or 'none'} then, {b} now)")
        # What the models cost is theirs, whatever answers.
        assert against(run(b), then, "tokens").status == "pass"
    for then in (baseline(run(b)), baseline(run(b)[:100])):
        assert against(run(b), then, "accuracy").status == "pass"


def test_rows_of_two_engines_in_one_run_are_told() -> None:
    mixed = [*run("neo4j")[:50], *run("arcadedb")[50:]]
    text = said(render_table(summarise(mixed, {}), width=100, color=False))
    assert "mixed rows: engine is arcadedb and neo4j." in text
    assert "arcadedb stood in for Neo4j in 50 of 100 rows" in text


def test_shards_of_two_engines_are_not_merged() -> None:
    halves = {"one": run("neo4j")[:50], "two": run("arcadedb")[50:]}
    shards = [
        StoredRun(path=Path(name), info={}, rows=tuple(rows)) for name, rows in halves.items()
    ]
    with pytest.raises(UsageError, match="engine of demo differs: one has neo4j, two has arcadedb"):
        merged_rows(shards)


def test_a_run_stored_by_an_older_version_can_be_read(tmp_path: Path) -> None:
    """Rows had `engine_uncertain`, uses of tools had `executed` and `uncertain`."""
    use = ToolUse(stage="query", tool="ArcadeDB/26.10", input="RETURN 1 AS n", output="n\n1")
    with closing(RunFolder.create(tmp_path, {}, redactor=Redactor(secrets={}))) as folder:
        folder.add_row(row("1"))
        folder.add_transcript(row("1").key, Transcript(events=(use,)))
        folder.files.json("summary.json", summarise([row("1")], {}).to_json())
    old = {
        "rows.jsonl": ('"sample":', '"engine_uncertain": true, "sample":'),
        "transcripts.jsonl": ('"input":', '"executed": "x", "uncertain": "it may", "input":'),
        "summary.json": ('"counts":', '"engine_uncertain": 1, "counts":'),
    }
    for name, (where, fields) in old.items():
        text = (folder.path / name).read_text("utf-8").replace(where, fields)
        assert fields in text
        text, dropped = re.subn(r',\s*"(engine|stands_in_for|stand_ins)": ?(""|\[\])', "", text)
        assert dropped
        (folder.path / name).write_text(text, "utf-8")
    assert read_run(folder.path).rows == (row("1"),)
    ((_, transcript),) = read_transcripts(folder.path)
    assert transcript.tool_uses == (use,)
    assert read_summary(folder.path) == summarise([row("1")], {})
