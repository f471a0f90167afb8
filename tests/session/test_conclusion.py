"""The end of a run: its files, its text, and what of it a stored run still shows."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from example_rows import row

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Row, StageNote, Transcript
from pytest_llmeval.results.declared_metrics import declared_metrics
from pytest_llmeval.results.gate_file import parse_gate
from pytest_llmeval.results.row_texts import lean
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import read_run, read_summary
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.results.task_info import MetricEntry, TaskInfo
from pytest_llmeval.session.conclusion import Conclusion, Measures, conclude
from pytest_llmeval.session.stored import stored_findings
from pytest_llmeval.session.task_info import KnownTask
from pytest_llmeval.session.yardstick import Yardstick

KEY = "sk-live-0123456789abcdef"


@dataclass(kw_only=True)
class Paper:
    """A writer that keeps what is written."""

    width: int = 100
    color: bool = False
    encoding: str = "utf-8"
    text: str = ""
    warnings: list[str] = field(default_factory=list)

    def section(self, title: str) -> None:
        self.text += f"== {title}\n"

    def write(self, text: str) -> None:
        self.text += text

    def warn(self, line: str) -> None:
        self.warnings.append(line)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    redactor = Redactor.of({"OPENAI_API_KEY": KEY})
    with closing(RunFolder.create(tmp_path / "reports", {}, redactor=redactor)) as made:
        yield made


def concluded(
    folder: RunFolder, rows: list[Row], *, metrics: list[MetricEntry] | None = None
) -> Conclusion:
    return ended(folder, [folder.add_row(one) for one in rows], metrics=metrics)


def ended(
    folder: RunFolder, rows: list[Row], *, metrics: list[MetricEntry] | None = None
) -> Conclusion:
    entries = metrics or []
    known = KnownTask(
        info=TaskInfo(title="demo", metrics=tuple(entries)),
        metrics=declared_metrics(entries, folder.path.parents[1]),
    )
    gate = parse_gate("rules: {demo.accuracy: {min: 0.9}}", "gates.yaml")
    measures = Measures(yardstick=Yardstick(gate=gate))
    return conclude(rows, {"demo": known}, measures, folder, None)


ROWS = [row("1", answer="a"), row("2", "incorrect", answer="b", groups={"tag": ("x",)})]


def test_table_gate_and_place_are_written_and_the_gate_decides(folder: RunFolder) -> None:
    found = concluded(folder, ROWS)
    paper = Paper()
    found.print(paper)
    assert found.gate_failed
    assert paper.text.startswith("== LLM benchmark results · openai/small\n")
    assert "50.0 %" in paper.text
    assert "gate not passed: 1 of" in paper.text
    assert paper.text.endswith(f"report: {folder.path / 'report.html'}\n")
    assert paper.warnings == []
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "report.html",
        "rows.csv",
        "rows.jsonl",
        "run.json",
        "summary.json",
        "summary.md",
        "transcripts.jsonl",
    ]


def test_what_cannot_be_written_is_told_and_costs_no_table(folder: RunFolder) -> None:
    (folder.path / "report.html").mkdir()
    found = concluded(folder, ROWS)
    paper = Paper()
    found.print(paper)
    assert "50.0 %" in paper.text
    assert len(paper.warnings) == 1
    assert paper.warnings[0].startswith("report.html could not be written: IsADirectoryError: ")
    assert found.fails


def test_rows_without_their_texts_end_like_whole_ones(folder: RunFolder) -> None:
    answers = [row("1", answer="left"), row("2", "incorrect", answer="=right \ud800\nand so on")]
    stored = [folder.add_row(one) for one in answers]
    assert lean(stored[1]).answer == answer_digest(stored[1].answer)
    metrics: list[MetricEntry] = ["f1_macro"]
    ended(folder, stored, metrics=metrics)
    files = ("rows.csv", "report.html", "summary.json")
    whole = [(folder.path / name).read_bytes() for name in files]
    ended(folder, [*map(lean, stored)], metrics=metrics)
    assert [(folder.path / name).read_bytes() for name in files] == whole
    assert b"left" in whole[0]


def test_a_secret_reaches_neither_the_report_nor_its_compressed_parts(folder: RunFolder) -> None:
    rows = [row("1", answer=f"the key is {KEY}", explanation=KEY), *ROWS[1:]]
    folder.add_transcript(
        rows[0].key, Transcript(events=(StageNote(stage="generate", text=f"said {KEY}"),))
    )
    found = concluded(folder, rows)
    page = (folder.path / "report.html").read_text()
    chunks = re.findall(r'id="chunk-\d+">(.*?)</script>', page)
    opened = "".join(zlib.decompress(base64.b64decode(chunk)).decode() for chunk in chunks)
    assert chunks
    assert "the key is [OPENAI_API_KEY]" in opened
    assert "said [OPENAI_API_KEY]" in opened
    assert KEY not in page + opened
    assert found.found.rows[0].answer == "the key is [OPENAI_API_KEY]"
    assert read_run(folder.path).rows == found.found.rows


def test_a_stored_run_shows_what_its_session_showed(folder: RunFolder, tmp_path: Path) -> None:
    file = tmp_path / "metrics.py"
    file.write_text("def longest(rows):\n    return float(max(len(r.answer) for r in rows))\n")
    found = concluded(folder, ROWS, metrics=["./metrics.py:longest", "mcc"])
    file.unlink()
    again = stored_findings(read_run(folder.path))
    values = {one.name: one.value for one in again.summary.entries[0].figures.metrics}
    assert values["longest"] == 1.0
    assert set(values) == {"longest", "mcc"}
    assert again.gate == found.gate
    assert again.rows == found.found.rows


def test_a_killed_run_has_findings_too_and_says_what_was_left_out(folder: RunFolder) -> None:
    for one in ROWS:
        folder.add_row(one)
    with (folder.path / "rows.jsonl").open("a") as file:
        file.write('{"test": "cut o')
    found = stored_findings(read_run(folder.path))
    assert found.gate is None
    assert found.summary.entries[0].figures.counts.planned == 2
    assert len(found.remarks) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 99}, "schema 1, but 99"),
        ({"gate": {"results": [{"task": "demo"}]}}, r"`model` - at `\$\.results\[0\]`"),
        ({"rescoring": {"run": 3}}, r"`\$\.run`"),
    ],
)
def test_a_broken_summary_is_named_with_file_and_field(
    folder: RunFolder, change: dict[str, object], said: str
) -> None:
    concluded(folder, ROWS)
    file = folder.path / "summary.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(UsageError, match=rf"summary\.json: .*{said}"):
        stored_findings(read_run(folder.path))


def test_a_summary_of_before_this_form_is_still_read(folder: RunFolder) -> None:
    concluded(folder, ROWS)
    file = folder.path / "summary.json"
    data = json.loads(file.read_text())
    figures = data["entries"][0]["tally"]
    for name in ("metrics", "repeating", "labels"):
        del figures[name]
    figures["taxonomy"] = {}
    for result in data["gate"]["results"]:
        del result["bounds"]["max_drop"], result["bounds"]["max_rise"]
    file.write_text(json.dumps(data))
    assert read_summary(folder.path).entries[0].figures.accuracy.value == 0.5
    assert stored_findings(read_run(folder.path)).gate is not None
