"""However a scoring is ended, the same command goes on, and the output has the same bytes."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from bulk.tables import OWN, job, read, score, write
from pyarrow import parquet

from pytest_llmeval.bulk.part_folder import MANIFEST, PartFolder
from pytest_llmeval.errors import LLMEvalError, RunStopped, UsageError
from pytest_llmeval.report.progress_line import Progress

ROWS = 600

COUNTED = """
import os

def counted(answer, sample):
    with open("ledger", "a") as ledger:
        ledger.write(f"{sample.id}\\n")
    sum(range(20_000))
    return answer == sample.target
"""
"""A scorer that writes down each row that it scores."""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table of 600 rows, beside the scorers."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "counted.py").write_text(COUNTED)
    answers = [str(number % 7) for number in range(ROWS)]
    columns = {"answer": answers, "target": ["3"] * ROWS, "kept": list(range(ROWS))}
    return write(tmp_path / "in.parquet", columns)


def command(folder: Path, out: str, *more: str) -> list[str]:
    scorer = ("--scorer", "./counted.py:counted", "--out", out, "--part-rows", "20", *more)
    return [sys.executable, "-m", "pytest_llmeval", "score", str(folder / "in.parquet"), *scorer]


def test_a_scoring_that_is_killed_at_any_moment_goes_on_to_the_same_bytes(
    tmp_path: Path,
    table: Path,  # noqa: ARG001 - the command names it
) -> None:
    quiet = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    subprocess.run(command(tmp_path, "whole.parquet"), check=True, **quiet)  # type: ignore[call-overload]
    rng, kills, out = random.Random(os.urandom(4)), 0, tmp_path / "out.parquet"
    (tmp_path / "ledger").unlink()
    deadline = time.monotonic() + 240
    while not out.exists():
        assert time.monotonic() < deadline
        jobs = str(rng.randint(1, 3))
        process = subprocess.Popen(command(tmp_path, out.name, "--jobs", jobs), **quiet)  # type: ignore[call-overload]
        before = _parts(tmp_path)
        # From the first moment to some time after the next parts.
        wanted = before + rng.randint(0, 12)
        while process.poll() is None and _parts(tmp_path) < wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        assert _parts(tmp_path) >= before or out.exists()
    assert kills >= 2
    subprocess.run(command(tmp_path, out.name), check=True, **quiet)  # type: ignore[call-overload]
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not (tmp_path / "out.parquet.parts").exists()
    scored = (tmp_path / "ledger").read_text().split()
    assert set(scored) == set(map(str, range(ROWS)))
    # A kill costs the parts in work at most: one for each child and four beside, of 20 rows each.
    assert len(scored) <= ROWS + kills * 7 * 20


def _parts(folder: Path) -> int:
    return len(list((folder / "out.parquet.parts").glob("part-*.parquet")))


class StoppedError(Exception):
    """Ends a scoring in the middle."""


def begun(tmp_path: Path, table: Path, name: str = "exact") -> Path:
    """Begin a scoring and stop it, so that there are parts."""

    def stop(progress: Progress) -> None:
        if progress.done >= ROWS // 2:
            raise StoppedError

    out = tmp_path / "out.parquet"
    with pytest.raises(StoppedError):
        score(table, job(tmp_path, name), out, part_rows=20, show=stop)
    assert 0 < _parts(tmp_path) < ROWS / 20
    return out


def test_a_begun_folder_says_how_many_rows_a_part_has(tmp_path: Path, table: Path) -> None:
    out = begun(tmp_path, table)
    before = _parts(tmp_path)
    shown: list[Progress] = []
    score(table, job(tmp_path, "exact"), out, show=shown.append)
    assert shown[0].done == before * 20
    assert shown[0].accuracy is not None
    assert shown[-1].done == shown[-1].planned == ROWS


def test_another_table_or_scorer_is_refused_with_the_reason_and_nothing_is_lost(
    tmp_path: Path, table: Path
) -> None:
    out = begun(tmp_path, table)
    before = {file.name for file in out.with_name("out.parquet.parts").iterdir()}
    refused: dict[str, Callable[[], object]] = {
        "what grades": lambda: score(table, job(tmp_path, "number"), out),
        "--row-seconds": lambda: score(table, job(tmp_path, "exact", cpu_seconds=5), out),
        "--fields": lambda: score(table, job(tmp_path, "exact"), out, fields=["id=kept"]),
        "--part-rows": lambda: score(table, job(tmp_path, "exact"), out, part_rows=21),
    }
    for told, again in refused.items():
        with pytest.raises(UsageError, match=rf"different is .*{told}.*Delete the folder"):
            again()
    write(table, {"answer": ["3"] * ROWS, "target": ["3"] * ROWS, "kept": list(range(ROWS))})
    with pytest.raises(UsageError, match=r"the content of the table \(in\.parquet\)"):
        score(table, job(tmp_path, "exact"), out)
    assert {file.name for file in out.with_name("out.parquet.parts").iterdir()} == before


def test_a_scorer_of_ones_own_that_was_edited_is_another(tmp_path: Path, table: Path) -> None:
    out = begun(tmp_path, table, "./own.py:obey")
    (tmp_path / "own.py").write_text(OWN + "\n# edited\n")
    with pytest.raises(UsageError, match="what grades"):
        score(table, job(tmp_path, "./own.py:obey"), out)


def test_a_part_that_a_power_failure_cut_is_scored_again(tmp_path: Path, table: Path) -> None:
    out = begun(tmp_path, table)
    parts = sorted(out.with_name("out.parquet.parts").glob("part-*.parquet"))
    parts[0].write_bytes(parts[0].read_bytes()[:100])
    parts[1].write_bytes(b"")
    (parts[0].parent / ".part-0000099.parquet.1").write_bytes(b"left over")
    score(table, job(tmp_path, "exact"), out)
    score(table, job(tmp_path, "exact"), tmp_path / "whole.parquet")
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_touched_table_is_the_same_one(tmp_path: Path, table: Path) -> None:
    out = begun(tmp_path, table)
    os.utime(table, (1, 1))
    score(table, job(tmp_path, "exact"), out)
    assert len(read(out)) == ROWS


def test_a_table_that_changes_while_it_is_scored_is_told(tmp_path: Path, table: Path) -> None:
    def touch(_: Progress) -> None:
        os.utime(table)

    with pytest.raises(UsageError, match="has changed while it was scored"):
        score(table, job(tmp_path, "exact"), tmp_path / "out.parquet", show=touch)
    assert not (tmp_path / "out.parquet").exists()


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path, table: Path) -> None:
    def again(_: Progress) -> None:
        with pytest.raises(UsageError, match="another process writes its parts here; wait"):
            score(table, job(tmp_path, "exact"), tmp_path / "out.parquet")

    score(table, job(tmp_path, "exact"), tmp_path / "out.parquet", show=again)


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path, table: Path) -> None:
    (tmp_path / "out.parquet.parts").mkdir()
    (tmp_path / "out.parquet.parts" / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match=rf"holds 'letter\.txt' and no {MANIFEST}"):
        score(table, job(tmp_path, "exact"), tmp_path / "out.parquet")
    assert (tmp_path / "out.parquet.parts" / "letter.txt").read_text() == "dear"


def test_an_output_that_is_there_is_kept_and_told(tmp_path: Path, table: Path) -> None:
    out = tmp_path / "out.parquet"
    assert score(table, job(tmp_path, "exact"), out)
    before = out.stat().st_mtime_ns
    assert score(table, job(tmp_path, "exact"), out) is None
    with pytest.raises(UsageError, match="exists already; delete it"):
        score(table, job(tmp_path, "number"), out)
    assert out.stat().st_mtime_ns == before


def test_a_kill_between_the_output_and_the_end_of_the_parts_is_mended(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.parquet"

    def stop(folder: PartFolder) -> None:
        (folder.path / "part-0000000.parquet").unlink()
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(PartFolder, "remove", stop)
        with pytest.raises(StoppedError):
            score(table, job(tmp_path, "exact"), out)
    whole = out.read_bytes()
    assert score(table, job(tmp_path, "exact"), out) is None
    assert out.read_bytes() == whole
    assert not out.with_name("out.parquet.parts").exists()


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a full disk."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 900, 1_500, 5_000])
def test_a_full_disk_is_one_error_and_the_same_command_goes_on(
    tmp_path: Path, table: Path, size: int
) -> None:
    out = tmp_path / "out.parquet"
    with file_limit(size), pytest.raises(RunStopped, match=r"cannot be written: .*same command"):
        score(table, job(tmp_path, "exact"), out, part_rows=100)
    assert not out.exists()
    with suppress(FileNotFoundError):
        assert not list(tmp_path.glob(".out*"))
    score(table, job(tmp_path, "exact"), out)
    score(table, job(tmp_path, "exact"), tmp_path / "whole.parquet")
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_write_that_fails_says_why(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(parquet, "write_table", full)
    with pytest.raises(LLMEvalError, match="No space left on device"):
        score(table, job(tmp_path, "exact"), tmp_path / "out.parquet")
    manifest = json.loads((tmp_path / "out.parquet.parts" / MANIFEST).read_text())
    assert manifest["rows"] == ROWS
