"""The commands on stored runs: report, compare, gate, baseline, merge."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from example_rows import eed, row

from pytest_llmeval.commands.main import main
from pytest_llmeval.engine.replies import REPLIES, ReplyStore, StoredReply
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Asked, Json, Message, ModelCall, Reply, Request, Row, Transcript
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import read_run, read_transcripts
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import TaskInfo
from pytest_llmeval.session.findings import Findings, write_findings

Output: TypeAlias = pytest.CaptureFixture[str]
Keep: TypeAlias = Callable[..., str]
ESCAPES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]")
HOSTILE = "\x1b[2J\x1b]0;owned\x07|<script>alert(1)</script>\u202e\n=cmd"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in an empty folder, outside of any job."""
    monkeypatch.chdir(tmp_path)
    for name in ("LLMEVAL_REPORT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def keep(tmp_path: Path) -> Keep:
    """Keep rows as a finished run below reports/ and return its name."""
    started = iter(range(60))

    def kept(
        rows: Sequence[Row], *, finished: bool = True, planned: int | None = None, **info: Json
    ) -> str:
        tasks = {"demo": TaskInfo(title="demo", group_by=("tag",), demo=True)}
        told: dict[str, Json] = {
            "planned": planned or len(rows),
            "settings": {"shard": [1, 2]},
            **info,
        }
        told["tasks"] = {"demo.yaml": {"name": "demo", "info": tasks["demo"].to_json()}}
        moment = datetime(2026, 3, 1, 12, 0, next(started), tzinfo=UTC)
        folder = RunFolder.create(
            tmp_path / "reports", told, redactor=Redactor(secrets={}), started=moment
        )
        with closing(folder):
            for one in rows:
                folder.add_row(one)
                folder.add_transcript(one.key, Transcript())
            summary = summarise(rows, tasks)
            if finished:
                found = Findings(
                    rows=tuple(rows),
                    summary=summary,
                    gate=check(Gate(), summary),
                    engine={"calls": 3},
                )
                write_findings(folder.files, found)
        return folder.path.name

    return kept


def formulas(right: int, wrong: int, start: int = 0, **fields: Any) -> list[Row]:
    return [
        row(
            str(i),
            "correct" if i < start + right else "incorrect",
            scores=eed(100.0 if i < start + right else 40.0),
            **fields,
        )
        for i in range(start, start + right + wrong)
    ]


def contents(folder: Path) -> dict[str, Any]:
    """Return the files of a run's folder but run.json; summary.json as JSON, where 0 is 0.0."""
    files = [file for file in folder.iterdir() if file.name != "run.json"]
    found: dict[str, Any] = {file.name: file.read_bytes() for file in files}
    return {**found, "summary.json": json.loads(found["summary.json"])}


def run(*arguments: str, status: int = 0) -> None:
    assert main(arguments) == status


def test_a_report_is_made_again_with_title_gate_and_effort_of_its_own_session(
    keep: Keep, capsys: Output
) -> None:
    name = keep(formulas(3, 1))
    folder = Path("reports") / name
    before = contents(folder)
    for file in ("summary.md", "rows.csv", "report.html"):
        (folder / file).unlink()
    run("report", "latest")
    out = capsys.readouterr().out
    assert "demo (demo data) · openai/small" in out
    assert "gate passed" in out
    assert f"report: {folder.resolve() / 'report.html'}" in out
    after = contents(folder)
    assert after == before
    assert after["summary.json"]["engine"] == {"calls": 3}


def test_a_killed_run_is_reported_with_its_titles_and_what_it_lacks(
    keep: Keep, capsys: Output
) -> None:
    run("report", keep(formulas(3, 1), finished=False, planned=9))
    captured = capsys.readouterr()
    assert "demo (demo data)" in captured.out
    assert "5 planned samples have no row: the run was cut off" in captured.err


def test_a_report_can_hold_the_run_against_another(keep: Keep, capsys: Output) -> None:
    before, after = keep(formulas(3, 1)), keep(formulas(4, 0))
    run("report", after, "--against", before)
    assert "gained: 1 (3)" in capsys.readouterr().out
    assert "gained" in (Path("reports") / after / "report.html").read_text()
    assert "- gained: 1 (3)" in (Path("reports") / after / "summary.md").read_text()


def test_rows_are_written_as_parquet_on_request(keep: Keep) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra hub")
    name = keep(formulas(1, 1, answer="\ud800 =1+1"))
    run("report", name, "--parquet")
    table = parquet.read_table(Path("reports") / name / "rows.parquet").to_pydict()
    assert table["score:EED"] == [100.0, 40.0]
    assert table["answer"] == ["\\ud800 =1+1"] * 2


def test_two_runs_are_compared_in_a_table_in_markdown_and_on_a_page(
    keep: Keep, capsys: Output
) -> None:
    a, b = keep(formulas(3, 5)), keep(formulas(8, 0))
    run("compare", a, b, "--html", "page.html")
    out = capsys.readouterr().out
    assert f"a: {a} · 8 rows, 8 compared\nb: {b} · 8 rows, 8 compared\n" in out
    assert "gained: 5 (3, 4, 5, 6, 7)" in out
    assert "written: page.html" in out
    assert "<html" in Path("page.html").read_text()
    run("compare", str(Path("reports") / a), "latest", "--markdown")
    assert "| accuracy | 37.5 % | 100.0 % | +62.5 |" in capsys.readouterr().out


def test_several_runs_stand_in_a_matrix_over_their_common_samples(
    keep: Keep, capsys: Output
) -> None:
    names = [keep(formulas(2, 8)), keep(formulas(10, 0)), keep(formulas(9, 0))]
    run("compare", *names, "--html", "page.html")
    out = capsys.readouterr().out
    assert "demo · test_demo (demo data) · 9 samples that all scored" in out
    # 2 against 9 of 9: seven flips one way, p = 2/2^7 = 0.0156, times the six comparisons of Holm
    # at most.
    assert re.search(r"^A openai/small +-77\.8 +-77\.8$", out, re.MULTILINE)
    assert re.search(r"^B openai/small +\+77\.8 +0\.0$", out, re.MULTILINE)
    assert "scored samples: A 10, B 10, C 9; only the 9 common ones count" in out
    assert "samples that all scored" in Path("page.html").read_text()
    run("compare", *names, "--markdown")
    assert "| A openai/small |  | -77.8 | -77.8 |" in capsys.readouterr().out


def test_the_models_of_one_run_are_compared_with_each_other(keep: Keep, capsys: Output) -> None:
    name = keep([*formulas(20, 0, model="strong"), *formulas(2, 18, model="weak")])
    run("compare", name)
    out = capsys.readouterr().out
    assert re.search(r"^B weak +-90\.0\*$", out, re.MULTILINE)  # 18 flips one way: 2/2^18
    run("compare", keep(formulas(1, 1)), status=2)
    assert "there is nothing to compare" in capsys.readouterr().err


def test_runs_without_a_common_part_are_no_comparison(keep: Keep, capsys: Output) -> None:
    run("compare", keep(formulas(1, 1)), keep(formulas(1, 1, task="other")), status=2)
    assert "have no part in common" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [["report"], ["compare", "x"], ["gate", "--gate", "g.yaml"], ["baseline", "set"]]
)
def test_a_run_that_is_not_there_is_named_with_those_that_are(
    keep: Keep, capsys: Output, command: list[str]
) -> None:
    Path("g.yaml").write_text("")
    name = keep(formulas(1, 0))
    run(*command, "nope", status=2)
    error = capsys.readouterr().err
    assert re.search(
        rf"no such run, neither as a path nor in reports \(runs there, newest first: {name}\)",
        error,
    )
    run(*command, "nope", "--report", "empty", status=2)
    assert "there are no runs there" in capsys.readouterr().err


def test_a_gate_decides_over_a_stored_run_by_its_exit_status(
    keep: Keep, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    Path("lenient.yaml").write_text("rules: {demo.accuracy: {min: 0.3}}")
    Path("strict.yaml").write_text("rules: {demo.accuracy: {min: 0.99}}")
    keep(formulas(3, 1))
    run("gate", "latest", "--gate", "lenient.yaml")
    assert "gate passed" in capsys.readouterr().out
    run("gate", "latest", "--gate", "strict.yaml", status=1)
    assert "0.75 may be 0.3006 to 0.9544, all outside min 0.99" in capsys.readouterr().out
    assert re.findall(r"^## gate (?:not )?passed", Path("step.md").read_text(), re.MULTILINE) == [
        "## gate passed",
        "## gate not passed",
    ]


def test_a_gate_holds_a_run_against_a_baseline_and_names_the_flipped_samples(
    keep: Keep, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    Path("g.yaml").write_text("rules: {demo.accuracy: {max_drop: 0.1}}")
    run("baseline", "set", keep(formulas(80, 20)))
    assert "baseline: reports/baselines/main.jsonl (100 rows of" in capsys.readouterr().out
    keep(formulas(80, 20))
    run("gate", "latest", "--gate", "g.yaml", "--baseline", "main.jsonl")
    keep(formulas(40, 60))
    run(
        "gate", "latest", "--gate", "g.yaml", "--baseline", "reports/baselines/main.jsonl", status=1
    )
    assert "- lost: 40 (40, 41, " in Path("step.md").read_text()
    run("gate", "latest", "--gate", "g.yaml", status=2)
    assert "needs a baseline" in capsys.readouterr().err
    run("compare", "main.jsonl", "latest")
    assert "lost: 40" in capsys.readouterr().out


def test_a_run_that_was_cut_off_neither_passes_a_gate_nor_becomes_a_baseline(
    keep: Keep, capsys: Output
) -> None:
    Path("g.yaml").write_text("coverage: 0")
    name = keep(formulas(3, 0), planned=4)
    run("gate", name, "--gate", "g.yaml", status=1)
    assert "run.rows: 1 planned samples have no row" in capsys.readouterr().out
    run("baseline", "set", name, status=2)
    assert "cut off, so it is no baseline" in capsys.readouterr().err


def test_the_table_beside_a_gate_names_the_level_of_its_intervals(
    keep: Keep, capsys: Output
) -> None:
    then = keep(formulas(8, 2))
    for significance, level in ((0.05, "95 %"), (0.2, "80 %")):
        Path("g.yaml").write_text(f"significance: {significance}\nrules: {{}}")
        run("gate", keep(formulas(7, 3)), "--gate", "g.yaml", "--baseline", then)
        [head] = [line for line in capsys.readouterr().out.splitlines() if "b - a" in line]
        assert level in head


def cut(name: str, left: int) -> None:
    file = Path("reports") / name / "rows.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:left]))


@pytest.mark.parametrize("left", [0, 1, 3])
def test_a_stored_verdict_is_never_repeated_over_rows_that_are_gone(
    keep: Keep, capsys: Output, left: int
) -> None:
    name = keep(formulas(4, 0))
    assert "gate passed" in Path(f"reports/{name}/summary.md").read_text()
    cut(name, left)
    for _ in range(2):  # the first report writes the summary anew
        run("report", name, status=1)
        captured = capsys.readouterr()
        assert "gate passed" not in captured.out
        assert "gate not passed" in captured.out
        assert f"{left} of 4 rows are left" in captured.err
        assert "gate passed" not in Path(f"reports/{name}/summary.md").read_text()
    Path("g.yaml").write_text("coverage: 0")
    run("gate", name, "--gate", "g.yaml", status=1)
    run("gate", keep(formulas(4, 0)), "--gate", "g.yaml", "--baseline", name, status=2)
    assert "planned samples have no row" in capsys.readouterr().err


def test_a_stored_verdict_is_not_repeated_over_rows_that_changed(
    keep: Keep, capsys: Output
) -> None:
    name = keep(formulas(4, 0))
    file = Path("reports") / name / "rows.jsonl"
    file.write_text(file.read_text().replace('"correct","', '"incorrect","'))
    run("report", name, status=1)
    captured = capsys.readouterr()
    assert "gate passed" not in captured.out
    assert "rows have changed since" in captured.err


def test_a_comparison_with_a_run_that_was_cut_off_says_so_and_is_no_success(
    keep: Keep, capsys: Output
) -> None:
    whole, part, other = keep(formulas(4, 0)), keep(formulas(4, 0)), keep(formulas(4, 0))
    cut(part, 2)
    for runs in ((whole, part), (part, whole), (whole, part, other)):
        run("compare", *runs, status=1)
        assert "2 planned samples have no row" in capsys.readouterr().err


def test_a_comparison_of_no_sample_says_so_and_is_no_success(keep: Keep, capsys: Output) -> None:
    one, other = keep(formulas(3, 1, target="4")), keep(formulas(3, 1, target="5"))
    third = keep(formulas(3, 1, target="6"))
    run("compare", one, other, status=1)
    captured = capsys.readouterr()
    assert "demo · openai/small: no sample was compared" in captured.err
    assert "target changed: 4" in captured.out
    run("compare", one, other, third, status=1)
    assert "no sample was compared" in capsys.readouterr().err


def test_a_run_merged_of_shards_lacks_no_row(keep: Keep, capsys: Output) -> None:
    run("merge", keep(formulas(2, 1)), keep([*formulas(1, 1, start=3), row("0", "not run")]))
    run("report", "latest")
    assert "no row" not in capsys.readouterr().err


def test_a_baseline_is_written_where_one_says_and_nowhere_odd(keep: Keep, capsys: Output) -> None:
    name = keep(formulas(1, 1))
    run("baseline", "set", name, "--to", "ci/nightly.jsonl")
    assert len(Path("ci/nightly.jsonl").read_text().splitlines()) == 4
    run("baseline", "set", name, "--to", "ci", status=2)
    assert "let its name end in .jsonl" in capsys.readouterr().err
    Path("file").write_text("")
    run("baseline", "set", name, "--to", "file/main.jsonl", status=2)
    assert "the baseline cannot be written" in capsys.readouterr().err


def test_shards_become_one_run_with_everything_they_hold(keep: Keep, capsys: Output) -> None:
    left, right = keep(formulas(2, 1)), keep([*formulas(1, 1, start=3), row("0", "not run")])
    asked = Asked(stage="solve", role="solver", model="m", parameters={}, messages=(), key="k")
    call = ModelCall(asked=asked, reply=Reply(text="4"))
    for number, name in enumerate((left, right)):
        folder = RunFolder(Path("reports") / name, Redactor(secrets={}))
        with (
            closing(folder),
            closing(ReplyStore(folder.path / REPLIES)) as store,
        ):
            folder.add_transcript(read_run(folder.path).rows[0].key, Transcript(events=(call,)))
            request = Request(
                provider="openai", model="m", messages=(Message.of("user", f"{number}"),)
            )
            reply = StoredReply.of(request, Reply(text=f"reply {number}"))
            store.put(request.key, reply)
        (folder.path / "images").mkdir()
        (folder.path / "images" / f"{number}.png").write_bytes(b"")
    run("merge", left, right)
    out = capsys.readouterr().out
    assert re.search(r"60\.0 % .*5 of 5", out)
    merged = read_run(Path("reports/latest"))
    assert f"run: reports/{merged.path.name}" in out
    assert [one.sample for one in merged.rows] == ["0", "1", "2", "3", "4"]
    assert {one.outcome for one in merged.rows} == {"correct", "incorrect"}
    sessions: Any = merged.info["merged"]
    assert [session["run"] for session in sessions] == [left, right]
    assert sum(len(transcript.events) for _, transcript in read_transcripts(merged.path)) == 2
    assert sorted(file.name for file in (merged.path / "images").iterdir()) == ["0.png", "1.png"]
    with closing(ReplyStore(merged.path / REPLIES)) as store:
        assert {kept.reply.text for kept in store.all()} == {"reply 0", "reply 1"}
    assert (merged.path / "report.html").is_file()


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (formulas(1, 0), "sample '0' of demo (model openai/small, epoch 1) is in"),
        (formulas(1, 0, start=5, versions={"prompt": "new"}), "prompt of demo differs"),
    ],
    ids=["overlap", "another prompt"],
)
def test_what_is_no_shard_is_not_merged(
    keep: Keep, capsys: Output, other: list[Row], said: str
) -> None:
    first = keep(formulas(2, 0, versions={"prompt": "old"}))
    run("merge", first, keep(other), status=2)
    assert said in capsys.readouterr().err
    run("merge", first, first, status=2)
    assert "each once" in capsys.readouterr().err
    run("merge", first, keep(formulas(1, 0, start=9), planned=7), status=2)
    assert "was cut off" in capsys.readouterr().err
    assert len(list(Path("reports").glob("*Z-*"))) == 3


def test_nothing_that_a_model_wrote_reaches_the_terminal_or_a_spreadsheet_as_a_command(
    keep: Keep, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    Path("g.yaml").write_text("rules: {demo.accuracy: {min: 1, max_drop: 0}}")
    fields: dict[str, Any] = {
        "model": HOSTILE,
        "answer": HOSTILE,
        "target": HOSTILE,
        "versions": {HOSTILE: HOSTILE},
    }
    first = keep(
        [row(HOSTILE + str(i), "correct", groups={"tag": (HOSTILE,)}, **fields) for i in range(3)]
    )
    second = keep([row(HOSTILE + str(i), "incorrect", **fields) for i in range(3)])
    run("report", first)
    run("compare", first, second)
    run("compare", first, second, first, "--markdown")
    run("gate", second, "--gate", "g.yaml", "--baseline", first, status=1)
    captured = capsys.readouterr()
    texts = [captured.out, captured.err, Path("step.md").read_text()]
    folder = Path("reports") / first
    texts += [(folder / name).read_text() for name in ("summary.md", "summary.json", "rows.csv")]
    assert not any(ESCAPES.search(text) for text in texts)
    assert "<script>" not in Path("step.md").read_text()
    with (folder / "rows.csv").open(newline="") as file:
        assert not [
            cell
            for line in csv.reader(file)
            for cell in line
            if cell.startswith(("=", "+", "-", "@"))
        ]
