from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from example_rows import eed, row

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.lock import FolderLock
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Asked, Json, Message, ModelCall, Reply, StageNote, Transcript
from pytest_llmeval.results.run_files import SUMMARY, SUMMARY_TEXT
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import find_run, read_run, read_summary, read_transcripts
from pytest_llmeval.results.summarise import summarise

NOTHING_SECRET = Redactor(secrets={})
Start: TypeAlias = Callable[..., RunFolder]
KEY = "sk-live-0123456789abcdef"


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return tmp_path / "reports"


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """Close what a test opens."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def a_run(reports: Path, opened: ExitStack) -> Start:
    """Start a run in the reports folder."""

    def start(redactor: Redactor = NOTHING_SECRET, **options: Any) -> RunFolder:
        info: dict[str, Json] = {"settings": {"model": ["openai/small"]}}
        return opened.enter_context(
            closing(RunFolder.create(reports, info, redactor=redactor, **options))
        )

    return start


def going_on_in(path: Path) -> RunFolder:
    """Resume the run in a folder."""
    lock = FolderLock(path)
    return RunFolder.resume(read_run(path), {}, redactor=NOTHING_SECRET, lock=lock)


def test_a_folder_is_named_by_utc_time_and_a_short_hash(a_run: Start) -> None:
    started = datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    run = a_run(started=started)
    time, _, digest = run.path.name.partition("-")
    assert time == "20260228T233000Z"
    assert len(digest) == 7
    assert read_run(run.path).info["started"] == started.astimezone(UTC).isoformat()


def test_rows_can_be_read_while_the_run_goes_on_and_survive_unchanged(a_run: Start) -> None:
    run = a_run()
    rows = (
        row("1", scores=eed(100, 20), answer="line\u2028separator \ud800 \r\n\x00 \U0001f600"),
        row("2", "not run"),
    )
    for one in rows:
        run.add_row(one)
    assert read_run(run.path).rows == rows


def test_a_later_row_takes_the_place_of_an_earlier_one(a_run: Start) -> None:
    run = a_run()
    for one in (row("1", "not run"), row("2", "not run"), row("1", "correct")):
        run.add_row(one)
    assert [(one.key.sample, one.outcome) for one in read_run(run.path).rows] == [
        ("1", "correct"),
        ("2", "not run"),
    ]


def test_a_line_cut_off_by_a_kill_is_left_out_and_said(a_run: Start) -> None:
    run = a_run()
    run.add_row(row("1"))
    run.close()
    with (run.path / "rows.jsonl").open("ab") as file:
        file.write(b'{"test": "t", "task": "de')
    stored = read_run(run.path)
    assert [one.key.sample for one in stored.rows] == ["1"]
    assert stored.remarks == (
        "rows.jsonl: line 2 was cut off when the run was killed, and is left out",
    )


def test_a_resumed_run_writes_on_behind_the_last_whole_line(a_run: Start) -> None:
    run = a_run()
    run.add_row(row("1"))
    run.close()
    with (run.path / "rows.jsonl").open("ab") as file:
        file.write(b'{"test": "t", "task": "de')
    with closing(going_on_in(run.path)) as again:
        again.add_row(row("2"))
    stored = read_run(run.path)
    assert [one.key.sample for one in stored.rows] == ["1", "2"]
    assert stored.remarks == ()


def test_wherever_a_power_cut_ends_the_files_all_whole_lines_are_read_and_written_on_behind(
    a_run: Start,
) -> None:
    run = a_run()
    note = Transcript(events=(StageNote(stage="note", text="so it was"),))
    for one in ("1", "2"):
        run.add_row(row(one))
        run.add_transcript(row(one).key, note)
    run.close()
    rows, transcripts = run.path / "rows.jsonl", run.path / "transcripts.jsonl"
    whole = rows.read_bytes(), transcripts.read_bytes()
    for length in range(len(whole[0]) + 1):
        rows.write_bytes(whole[0][:length])
        stored = read_run(run.path)
        lines, rest = whole[0][:length].count(b"\n"), length - whole[0].rfind(b"\n", 0, length) - 1
        assert [one.key.sample for one in stored.rows] == ["1", "2"][:lines]
        assert len(stored.remarks) == (rest > 0)
    for length in range(len(whole[1]) + 1):
        transcripts.write_bytes(whole[1][:length])
        lines = whole[1][:length].count(b"\n")
        assert [key.sample for key, _ in read_transcripts(run.path)] == ["1", "2"][:lines]
    for length in (0, 1, len(whole[0]) // 2, len(whole[0]) - 1):
        # Some file systems keep the length and lose what was there: zeros.
        rows.write_bytes(whole[0][:length] + b"\0" * 9)
        with closing(going_on_in(run.path)) as again:
            again.add_row(row("2"))
        assert {one.key.sample for one in read_run(run.path).rows} >= {"2"}
        assert read_run(run.path).remarks == ()


def test_one_session_at_a_time_writes_into_a_run(a_run: Start) -> None:
    run = a_run()
    with pytest.raises(UsageError, match="another session is writing into this run"):
        going_on_in(run.path)
    run.close()
    going_on_in(run.path).close()


def test_a_killed_session_lets_go_of_its_run(reports: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from pytest_llmeval.results.store import RunFolder\n"
        "from pytest_llmeval.files.redaction import Redactor\n"
        "run = RunFolder.create(Path(sys.argv[1]), {}, redactor=Redactor(secrets={}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(reports)], check=False)
    going_on_in(find_run(reports)).close()


def test_rows_added_before_a_process_is_killed_are_there(reports: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from example_rows import row\n"
        "from pytest_llmeval.results.store import RunFolder\n"
        "from pytest_llmeval.files.redaction import Redactor\n"
        "run = RunFolder.create(Path(sys.argv[1]), {}, redactor=Redactor(secrets={}))\n"
        "for i in range(100): run.add_row(row(str(i)))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = os.pathsep.join(map(str, (Path(__file__).parents[1], Path(__file__).parents[2])))
    done = subprocess.run(
        [sys.executable, "-c", script, reports], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.returncode == -9
    assert len(read_run(reports / "latest").rows) == 100


@pytest.mark.parametrize("line", ["nonsense", "[1, 2]", '{"test": "t"}', "null"])
def test_a_broken_line_in_the_middle_is_an_error_with_file_and_line(
    a_run: Start, line: str
) -> None:
    run = a_run()
    run.add_row(row("1"))
    run.close()
    with (run.path / "rows.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UsageError, match=r"rows\.jsonl:2: not"):
        read_run(run.path)


def test_transcripts_come_back_with_their_keys(a_run: Start) -> None:
    run = a_run()
    asked = Asked(
        stage="generate",
        role="solver",
        model="openai/small",
        parameters={"temperature": 0},
        messages=(Message.of("user", "2 + 2?"),),
        key="ab",
    )
    call = ModelCall(asked=asked, reply=Reply(text="4"))
    transcript = Transcript(events=(call, StageNote(stage="draw", text="no lines")))
    run.add_transcript(row("1").key, transcript)
    assert list(read_transcripts(run.path)) == [(row("1").key, transcript)]


def test_the_summary_is_written_in_both_forms_and_read_back(a_run: Start) -> None:
    run = a_run()
    summary = summarise([row("1", scores=eed(40)), row("2", scores=eed(60))], {})
    run.files.json(SUMMARY, summary.to_json())
    run.files.text(SUMMARY_TEXT, "# Results – all\n")
    assert read_summary(run.path) == summary
    assert read_summary(run.path / "summary.json") == summary
    assert (run.path / "summary.md").read_text(encoding="utf-8") == "# Results – all\n"


def test_latest_points_at_the_newest_run(a_run: Start, reports: Path) -> None:
    first, second = a_run(), a_run()
    assert first.path != second.path
    assert (reports / "latest").resolve() == second.path
    assert find_run(reports) == find_run(reports / "latest") == second.path


def test_where_links_are_not_to_be_had_latest_is_a_text_file(
    a_run: Start, reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "symlink_to", refuse)
    a_run()
    newest = a_run()
    assert (reports / "latest").read_text() == f"{newest.path.name}\n"
    assert find_run(reports) == find_run(reports / "latest") == newest.path


def test_no_temporary_files_stay(a_run: Start, reports: Path) -> None:
    run = a_run()
    run.files.json(SUMMARY, summarise([row("1")], {}).to_json())
    run.files.text(SUMMARY_TEXT, "")
    assert sorted(path.name for path in run.path.iterdir()) == [
        "rows.jsonl",
        "run.json",
        "summary.json",
        "summary.md",
        "transcripts.jsonl",
    ]
    assert sorted(path.name for path in reports.iterdir()) == sorted([run.path.name, "latest"])


def test_a_write_that_fails_leaves_the_old_file(a_run: Start) -> None:
    run = a_run()
    before = (run.path / "run.json").read_text()
    with pytest.raises(ValueError, match="nan"):
        run.write_run({"budget": float("nan")})
    assert (run.path / "run.json").read_text() == before


def test_a_folder_that_cannot_be_made_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--llmeval-report"):
        RunFolder.create(tmp_path / "file", {}, redactor=NOTHING_SECRET)


def test_a_place_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run here"):
        find_run(tmp_path)
    with pytest.raises(UsageError, match="no run here"):
        read_run(tmp_path / "absent")


def test_a_run_of_another_schema_is_refused(a_run: Start) -> None:
    run = a_run()
    (run.path / "run.json").write_text('{"schema": 7}')
    with pytest.raises(UsageError, match="schema 7"):
        read_run(run.path)


def test_keys_reach_no_file(a_run: Start) -> None:
    quoted = 'pass"word\\with-é'
    redactor = Redactor.of(
        {"OPENAI_API_KEY": KEY, "NEO4J_PASSWORD": quoted, "HOME": "/home/someone"}
    )
    run = a_run(redactor)
    run.write_run({"settings": {"base_url": f"https://user:{KEY}@host/v1", KEY: [quoted]}})
    run.add_row(
        row("1", "error", explanation=f"401: wrong key {KEY}", answer=quoted, details={"x": [KEY]})
    )
    run.add_transcript(
        row("1").key, Transcript(events=(StageNote(stage="s", text=f"Bearer {KEY}"),))
    )
    run.files.json(SUMMARY, summarise([row("1", model=f"python/{KEY}")], {}).to_json())
    run.files.text(SUMMARY_TEXT, f"# {KEY}")
    everything = "".join(path.read_text() for path in run.path.iterdir())
    for secret in (KEY, quoted, json.dumps(quoted)[1:-1]):
        assert secret not in everything
    [stored] = read_run(run.path).rows
    assert stored.explanation == "401: wrong key [OPENAI_API_KEY]"
    assert stored.answer == "[NEO4J_PASSWORD]"


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("OPENAI_API_KEY", KEY, "[OPENAI_API_KEY]"),
        ("azure_openai_api_key", KEY, "[azure_openai_api_key]"),
        ("HF_TOKEN", KEY, "[HF_TOKEN]"),
        ("LLMEVAL_MAX_TOTAL_TOKENS", "100000000", "100000000"),
        ("KEYBOARD_LAYOUT", "us-international", "us-international"),
        ("HOME", "/home/someone", "/home/someone"),
        ("TEST_KEY", "test", "test"),
    ],
)
def test_a_variable_is_secret_by_a_word_of_its_name(name: str, value: str, written: str) -> None:
    assert Redactor.of({name: value}).text(f"is {value}.") == f"is {written}."


def test_the_longer_of_two_overlapping_keys_goes_whole() -> None:
    redactor = Redactor.of({"A_KEY": KEY, "B_KEY": KEY + "-more"})
    assert redactor.text(f"{KEY}-more {KEY}") == "[B_KEY] [A_KEY]"


def test_passwords_in_urls_go_and_plain_urls_stay() -> None:
    text = (
        "bolt://neo4j:hunter2@localhost:7687 https://host:8080/a:b@c git@host:repo http://user@host"
    )
    assert NOTHING_SECRET.text(text) == (
        "bolt://[credentials]@localhost:7687 https://host:8080/a:b@c git@host:repo http://user@host"
    )
