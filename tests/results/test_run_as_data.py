"""`load_run`: a stored run's rows, transcripts and figures, as they were stored."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from example_rows import row
from hypothesis import given, settings
from hypothesis import strategies as st
from record_strategies import ROWS, TRANSCRIPTS
from stored_runs import stored

from pytest_llmeval import load_run
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row, StageNote, Transcript
from pytest_llmeval.results.rows import latest
from pytest_llmeval.results.run import Run
from pytest_llmeval.results.run_files import ROWS as ROWS_FILE
from pytest_llmeval.results.run_files import RUN, SUMMARY
from pytest_llmeval.results.stored_run import read_run, read_summary


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@settings(max_examples=30, deadline=None)
@given(st.lists(ROWS, max_size=3), TRANSCRIPTS)
def test_rows_and_transcripts_are_those_that_were_stored(
    folder: Path, rows: list[Row], transcript: Transcript
) -> None:
    run = stored(folder, rows, {one.key: transcript for one in rows})
    assert tuple(run.rows) == latest(rows) == read_run(run.path).rows
    assert len(run.rows) == len(latest(rows))
    assert [run.rows[place] for place in range(len(run.rows))] == list(latest(rows))
    assert run.rows[-2:] == list(latest(rows)[-2:])
    with pytest.raises(IndexError):
        run.rows[len(rows)]
    assert dict(run.transcripts) == {one.key: transcript for one in rows}


def test_of_several_rows_of_a_key_the_last_counts_where_the_first_stood(tmp_path: Path) -> None:
    run = stored(tmp_path, [row("1", "error"), row("2"), row("1", "correct")])
    assert [(one.sample, one.outcome) for one in run.rows] == [("1", "correct"), ("2", "correct")]
    assert run.by_key[row("1").key].outcome == "correct"


def test_a_row_that_was_not_run_has_no_transcript(tmp_path: Path) -> None:
    run = stored(tmp_path, [row("1", "not run")])
    assert run.transcripts.get(row("1").key) is None
    with pytest.raises(KeyError):
        run.transcripts[row("1").key]


def test_a_key_of_another_form_is_told_what_a_key_is(tmp_path: Path) -> None:
    run = stored(tmp_path, [row("1")])
    told = "transcripts.jsonl has no record under 't8'.*`key`.*test, task, sample, model, epoch"
    with pytest.raises(KeyError, match=told):
        run.transcripts["t8"]  # type: ignore[index]  # the mistake


def test_a_line_that_was_cut_off_is_left_out_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    path = stored(tmp_path, [row("1"), row("2")]).path
    text = (path / ROWS_FILE).read_text()
    (path / ROWS_FILE).write_text(text[:-20])
    assert [one.sample for one in Run.open(path).rows] == ["1"]
    (path / ROWS_FILE).write_text('{"test": 1}\n')
    with pytest.raises(UsageError, match=r"rows\.jsonl: not a valid"):
        list(Run.open(path).rows)


def test_memory_holds_one_row_at_a_time(tmp_path: Path) -> None:
    megabyte = 2**20
    rows = (row(str(n), answer="x" * megabyte) for n in range(12))
    run = stored(tmp_path, rows, {row("1").key: Transcript(events=(StageNote(stage="", text=""),))})
    tracemalloc.start()
    assert sum(len(one.answer or "") for one in run.rows) == 12 * megabyte
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * megabyte


def test_the_figures_are_those_of_summary_json(tmp_path: Path) -> None:
    run = stored(tmp_path, [row("1"), row("2", "incorrect")])
    assert run.summary == read_summary(run.path)
    assert run.info["planned"] == 2


def test_figures_that_are_absent_or_of_other_rows_are_told_with_the_command_that_makes_them(
    tmp_path: Path,
) -> None:
    path = stored(tmp_path, [row("1")]).path
    (path / ROWS_FILE).write_bytes(
        (stored(tmp_path, [row("1"), row("2")]).path / ROWS_FILE).read_bytes()
    )
    with pytest.raises(UsageError, match=r"is of 1 rows, and it has 2.*llmeval report"):
        _ = Run.open(path).summary
    (path / SUMMARY).unlink()
    with pytest.raises(UsageError, match=r"has no summary\.json.*llmeval report"):
        _ = Run.open(path).summary


class TestNames:
    """A run is found by path, by name in the folder of runs, and as the latest."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return stored(tmp_path, [row("1")]).path

    def test_a_path_or_a_name_with_the_folder_of_runs(self, path: Path) -> None:
        for name in (path, str(path)):
            assert load_run(name).path == path
        for name in (path.name, "latest"):
            assert load_run(name, reports=path.parent).path == path
        assert load_run(reports=path.parent).name == path.name

    def test_the_folder_of_runs_is_that_of_the_commands(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("LLMEVAL_REPORT", raising=False)
        (tmp_path / "pytest.ini").write_text(f"[pytest]\nllmeval_report = {path.parent.name}\n")
        assert load_run("latest").path == path
        monkeypatch.setenv("LLMEVAL_REPORT", "elsewhere")
        with pytest.raises(UsageError, match=r"neither as a path nor in .*elsewhere"):
            load_run("latest")

    def test_a_missing_run_is_told_with_those_that_there_are(self, path: Path) -> None:
        with pytest.raises(UsageError, match=rf"none: no such run.*{path.name}.*reports=DIR"):
            load_run("none", reports=path.parent)
        (path / RUN).unlink()
        with pytest.raises(UsageError, match="no run here"):
            load_run(path)


def test_loading_a_run_imports_neither_pytest_nor_what_is_heavy(tmp_path: Path) -> None:
    path = stored(tmp_path, [row("1")]).path
    heavy = "{'pytest', '_pytest', 'asyncio', 'numpy', 'sympy', 'pandas', 'openai'}"
    program = (
        "import sys, pytest_llmeval as e\n"
        f"run = e.load_run({str(path)!r})\n"
        "assert [row.sample for row in run.rows] == ['1']\n"
        "assert run.summary.entries\n"
        f"assert not {heavy} & set(sys.modules), {heavy} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
