"""``llmeval score`` from the command line: what it prints, what it refuses, how it goes on."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from bulk.tables import read, write

from pytest_llmeval.commands import score as command
from pytest_llmeval.commands.main import main
from pytest_llmeval.commands.running_line import RunningLine
from pytest_llmeval.report.progress_line import Progress

Output: TypeAlias = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a table of four rows."""
    monkeypatch.chdir(tmp_path)
    columns = {
        "response": ["4", "5", None, "4.0"],
        "solution": ["4", "4", "4", None],
        "kept": [1, 2, 3, 4],
    }
    write(tmp_path / "in.parquet", columns)
    return tmp_path


FIELDS = ("--fields", "answer=response,target=solution")


def test_the_counts_of_each_score_and_the_output_are_printed(capsys: Output) -> None:
    scorers = ("--scorer", "number", "--scorer", "{exact: {name: strict}}")
    status = main(["score", "in.parquet", *FIELDS, *scorers, "--out", "out.parquet"])
    printed = capsys.readouterr()
    assert status == 0
    assert printed.out.splitlines() == [
        "number: 1 correct, 2 incorrect, 1 errors (accuracy 33.3 %, mean 0.3333)",
        "strict: 1 correct, 2 incorrect, 1 errors (accuracy 33.3 %, mean 0.3333)",
        "out.parquet: 4 rows",
    ]
    rows = read(Path("out.parquet"))
    assert [row["kept"] for row in rows] == [1, 2, 3, 4]
    assert [row["number.correct"] for row in rows] == [True, False, False, None]
    assert rows[3]["strict.error"] == "the target is empty"
    assert rows[2]["number.explanation"] == "the reply holds no answer in the demanded form"
    again = main(["score", "in.parquet", *FIELDS, *scorers, "--out", "out.parquet"])
    assert again == 0
    assert "by these scorers already" in capsys.readouterr().out


def test_options_of_a_scorer_change_what_grades(capsys: Output) -> None:
    scorer = ("--scorer", "number={absolute: 1}")
    assert main(["score", "in.parquet", *FIELDS, *scorer, "--out", "out.parquet"]) == 0
    assert "2 correct, 1 incorrect" in capsys.readouterr().out
    assert "absolute=1" in read(Path("out.parquet"))[0]["number.grader"]


def _column_taken(folder: Path) -> list[str]:
    write(folder / "scored.parquet", {"answer": ["a"], "target": ["a"], "exact.value": [1.0]})
    return ["scored.parquet", "--scorer", "exact"]


def _foreign_output(folder: Path) -> list[str]:
    write(folder / "out.parquet", {"x": [1]})
    return ["in.parquet", *FIELDS, "--scorer", "exact"]


REFUSED: dict[str, tuple[Callable[[Path], list[str]] | list[str], str]] = {
    "no input": (["absent.parquet", "--scorer", "exact"], "absent.parquet: there is no such file"),
    "another format": (["in.csv", "--scorer", "exact"], "in.csv: there is no such file"),
    "no such scorer": (["in.parquet", "--scorer", "exakt"], "did you mean 'exact'?"),
    "a list": (["in.parquet", "--scorer", "{exact: [1]}"], "not a mapping"),
    "two in one": (["in.parquet", "--scorer", "{exact: {}, eed: {}}"], "one scorer with its"),
    "a judge": (["absent.parquet", "--scorer", "judge"], "it asks a model about each answer"),
    "a sandbox": (["absent.parquet", "--scorer", "code={tests: t}"], "works on a sample of a run"),
    "no such rule": (["in.parquet", "--scorer", "exact", "--answer", "box"], "rule is 'box'"),
    "no answer": (["in.parquet", "--scorer", "exact"], "no column 'answer' for the field 'answer'"),
    "no column": (
        ["in.parquet", "--scorer", "exact", "--fields", "answer=responce"],
        "did you mean --fields answer=response?",
    ),
    "a column taken": (_column_taken, "there is a column 'exact.value' already"),
    "a foreign output": (_foreign_output, "out.parquet: exists already; delete it"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_one_error_with_the_fix(here: Path, capsys: Output, case: str) -> None:
    made, told = REFUSED[case]
    words = made if isinstance(made, list) else made(here)
    before = sorted(here.iterdir())
    assert main(["score", *words, "--out", "out.parquet"]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert told in error
    assert sorted(here.iterdir()) == before


OUTPUTS = {
    "in.parquet": "would be written over or among the input in.parquet",
    "./link.parquet": "would be written over or among the input",
    "out.csv": "--out out.csv: the output is a Parquet file",
    "folder.parquet": "--out folder.parquet: is a folder",
    "no/out.parquet": "there is no folder",
}


@pytest.mark.parametrize("out", OUTPUTS)
def test_an_output_that_cannot_be_is_refused(here: Path, capsys: Output, out: str) -> None:
    (here / "link.parquet").symlink_to("in.parquet")
    (here / "folder.parquet").mkdir()
    before = (here / "in.parquet").read_bytes()
    assert main(["score", "in.parquet", *FIELDS, "--scorer", "exact", "--out", out]) == 2
    assert OUTPUTS[out] in capsys.readouterr().err
    assert (here / "in.parquet").read_bytes() == before


def test_the_output_may_not_lie_in_the_folder_that_is_read(here: Path, capsys: Output) -> None:
    (here / "data").mkdir()
    write(here / "data" / "1.parquet", {"answer": ["a"], "target": ["a"]})
    words = ["score", "data", "--scorer", "exact", "--out"]
    assert main([*words, "data/out.parquet"]) == 2
    assert "among the input data" in capsys.readouterr().err
    assert main([*words, "out.parquet"]) == 0


def test_without_pyarrow_one_error_names_the_extra(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    assert main(["score", "in.parquet", "--scorer", "exact", "--out", "out.parquet"]) == 2
    assert "pip install 'pytest-llmeval-suite[hub]'" in capsys.readouterr().err


def test_neither_the_help_nor_a_scorer_that_is_refused_imports_pyarrow() -> None:
    code = (
        "import sys\n"
        "from pytest_llmeval.commands.main import main\n"
        "assert main(['score', 'in.parquet', '--scorer', 'judge', '--out', 'o.parquet']) == 2\n"
        "assert 'pyarrow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


WAITS = """
import time

def waits(answer, sample):
    time.sleep(0.3)
    return True
"""

RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
from pytest_llmeval.commands.main import main
sys.exit(main(sys.argv[1:]))
"""


def started(here: Path, **streams: Any) -> subprocess.Popen[bytes]:
    """Start a scoring of 30 rows that takes nine seconds of waiting, in parts of two rows."""
    (here / "own.py").write_text(WAITS)
    write(here / "slow.parquet", {"answer": ["a"] * 30, "target": ["a"] * 30})
    words = ("score", "slow.parquet", "--scorer", "./own.py:waits", "--out", "out.parquet")
    environment = {name: text for name, text in os.environ.items() if name not in {"CI", "TERM"}}
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *words, "--part-rows", "2", "--jobs", "1"],
        cwd=here,
        env={**environment, "TERM": "xterm"},
        **streams,
    )


def wait_for_parts(here: Path) -> None:
    deadline = time.monotonic() + 60
    while not list(here.glob("out.parquet.parts/part-*")) and time.monotonic() < deadline:
        time.sleep(0.05)


def test_ctrl_c_ends_with_one_line_and_the_same_command_goes_on(here: Path) -> None:
    with started(here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_parts(here)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert error.decode().splitlines()[-1].startswith("llmeval: interrupted; run the same command")
    assert b"Traceback" not in error
    assert not (here / "out.parquet").exists()
    with started(here) as process:
        assert process.wait(timeout=60) == 0
    assert [row["waits.correct"] for row in read(here / "out.parquet")] == [True] * 30


def test_a_terminal_has_one_line_that_is_erased_at_the_end(here: Path) -> None:
    terminal, inner = pty.openpty()
    try:
        with started(here, stdout=subprocess.PIPE, stderr=inner) as process:
            wait_for_parts(here)
            printed, _ = process.communicate(timeout=60)
        shown = os.read(terminal, 1 << 16).decode()
    finally:
        os.close(terminal)
        os.close(inner)
    assert printed.decode().splitlines()[-1] == "out.parquet: 30 rows"
    assert "\n" not in shown
    assert shown.count("/30 done") > 2
    assert shown.endswith("\r\x1b[K")


def test_a_log_gets_plain_lines_of_progress(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = RunningLine("auto")
    now = 0.0
    monkeypatch.setattr("pytest_llmeval.commands.running_line.time.monotonic", lambda: now)
    for done in range(0, 1_000, 100):
        now += 20
        line.show(Progress(done=done, planned=1_000, accuracy=0.5, errors=2))
    line.close()
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 9
    assert all(text.startswith("llmeval: ") and "/1,000 done" in text for text in lines)
    assert "\x1b" not in "".join(lines)
