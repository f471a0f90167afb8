"""Whatever write of a run fails: sending stops, what is stored stays, and the table says why."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from plugin.failing_writes import FailingWrites, Site

# Imported before runs in this process, which forget the modules that they imported.
import pytest_llmeval.plugin.process
import pytest_llmeval.session.findings  # noqa: F401 - as above

if TYPE_CHECKING:
    from plugin.conftest import Project

SAMPLES, AT_ONCE = 4, 2

MODEL = """
import asyncio, re
from pathlib import Path
from pytest_llmeval import Reply

async def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    with open(Path(__file__).with_name("calls.txt"), "a") as calls:
        calls.write(f"{number}\\n")
    await asyncio.sleep(0.002)
    return str(number + 1)
"""

OPTIONS = (
    "-p",
    "pytest_llmeval.plugin",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-q",
    "--llmeval-model=python/./model.py:reply",
    f"--llmeval-limit={SAMPLES}",
    f"--llmeval-concurrency={AT_ONCE}",
)
REPLACED = (".summary.json", ".summary.md", ".rows.csv", ".report.html")
CALLS = ("open", "write", "flush", "fsync")
REASONS = ("No space left on device", "Read-only file system", "Input/output error", "disk is full")


@pytest.fixture
def sums(project: Project) -> Project:
    """Return a project of sums that a model gets all right."""
    project.write("model.py", MODEL)
    return project


@dataclass(frozen=True)
class Ended:
    """A run that met a failing write: exit status, output, and the calls before and after it."""

    status: int
    text: str
    before: int
    after: int


def run_with(project: Project, failing: FailingWrites, *options: str) -> Ended:
    """Run pytest in this process over writes that fail."""
    before = -1

    def count() -> None:
        nonlocal before
        before = len(_lines(project))

    failing.on_failure = count
    with pytest.MonkeyPatch.context() as patch:
        failing.install(patch)
        result = project.pytester.runpytest_inprocess(*OPTIONS, *options)
    calls = len(project.calls())
    text = result.stdout.str() + result.stderr.str()
    return Ended(int(result.ret), text, before, calls - before if before >= 0 else 0)


def _lines(project: Project) -> list[str]:
    file = project.path / "calls.txt"
    return file.read_text().split() if file.exists() else []


def folders_of(project: Project) -> tuple[Path, ...]:
    return tuple(project.path / name for name in ("reports", "kept.jsonl", ".kept.jsonl.new"))


def chosen(sites: list[Site]) -> Iterator[tuple[Site, int]]:
    """Yield each site with the first of its calls, and with one in the middle.

    Of the files that are replaced as a whole at the end, which all are written alike, each yields
    another of its calls.
    """
    last = [name for name in dict.fromkeys(site.name for site in sites) if name in REPLACED]
    for site, count in Counter(sites).items():
        if site.name in REPLACED and CALLS[last.index(site.name) % len(CALLS)] != site.call:
            continue
        yield site, 1
        if count > 2:
            yield site, count // 2 + 1


def stored(project: Project) -> set[str]:
    """Return the samples with a stored reply."""
    [*files] = project.path.glob("reports/2*/replies.sqlite3")
    found: set[str] = set()
    for file in files:
        with closing(sqlite3.connect(file)) as store:
            tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master")]
            for (record,) in store.execute("SELECT record FROM replies") if tables else ():
                found.add(re.findall(r"what is (\d+)", record)[0])
    return found


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "from then on"])
def test_no_failing_write_loses_what_is_stored_or_goes_unsaid(
    sums: Project, *, for_ever: bool
) -> None:
    counted = FailingWrites(folders_of(sums))
    keep = "--llmeval-keep=kept.jsonl"
    assert run_with(sums, counted, keep).status == 0
    assert {Site("write", "rows.jsonl"), Site("sql", "INSERT"), Site("fsync", ".report.html")} <= {
        *counted.sites
    }
    for site, occurrence in [*chosen(counted.sites)][for_ever::2]:
        _clean(sums)
        failing = FailingWrites(
            folders_of(sums), fails=site, occurrence=occurrence, for_ever=for_ever
        )
        ended = run_with(sums, failing, keep)
        where = f"call {occurrence} of {site}\n{ended.text}"
        assert failing.failed, where
        assert "Traceback" not in ended.text, where
        assert "INTERNALERROR" not in ended.text, where
        assert "LLM benchmark results" in ended.text, where
        if ended.status == 0:
            # The write had another way, such as a file in place of a link.
            assert _rows_written(sums) == SAMPLES, where
            continue
        table = ended.text.partition("LLM benchmark results")[2]
        assert any(reason in table for reason in REASONS), where
        assert ended.after <= AT_ONCE, where
        if occurrence > 1:
            _goes_on(sums, where)


def _goes_on(project: Project, where: str) -> None:
    """Check that a resumed run asks for what is not stored, and is whole in the end."""
    kept = stored(project)
    runs = [file.parent for file in project.path.glob("reports/2*/run.json")]
    if not runs:
        return
    result = project.pytester.runpytest_inprocess(*OPTIONS, f"--llmeval-resume={runs[0]}")
    assert result.ret == 0, f"{where}\nresumed:\n{result.stdout.str()}"
    assert kept.isdisjoint(map(str, project.calls())), where
    rows = (runs[0] / "rows.jsonl").read_text().splitlines()
    outcomes = {row["sample"]: row["outcome"] for row in map(json.loads, rows)}
    assert list(outcomes.values()) == ["correct"] * SAMPLES, where


def _rows_written(project: Project) -> int:
    [file] = project.path.glob("reports/2*/rows.jsonl")
    return len(file.read_text().splitlines())


def _clean(project: Project) -> None:
    shutil.rmtree(project.path / "reports", ignore_errors=True)
    (project.path / "kept.jsonl").unlink(missing_ok=True)
    project.calls()


FULL_DISK = """
import resource

# A limit of the operating system on each file, in place of a disk of that size.
resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))
"""


@pytest.mark.parametrize(("mode", "size"), [("-n0", 30_000), ("-n2", 60_000)])
def test_a_disk_that_fills_up_ends_the_run(sums: Project, mode: str, size: int) -> None:
    lines = (
        {"id": n, "question": f"what is {n}+1" + " please" * 400, "answer": str(n + 1), "kind": "a"}
        for n in range(60)
    )
    sums.write_lines("data.jsonl", lines)
    sums.write("conftest.py", FULL_DISK.replace("BYTES", str(size)))
    options = ("--llmeval-model=python/./model.py:reply", "--llmeval-concurrency=2", mode)
    result = sums.run(*options)
    text = result.stdout.str() + result.stderr.str()
    assert result.ret != 0
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    table = text.partition("LLM benchmark results")[2]
    assert "cannot be written any more" in table or "could not be started" in table, text
    asked = sums.calls()
    kept = stored(sums)
    # At most what was under way when the first write failed is lost.
    assert len(asked) <= len(kept) + AT_ONCE + 1, text
    assert len(asked) < 60

    (sums.path / "conftest.py").unlink()
    again = sums.run(*options, "--llmeval-resume=latest")
    again.assert_outcomes(passed=60)
    assert kept.isdisjoint(map(str, sums.calls()))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("name", ["rows.csv", "report.html"])
def test_a_file_of_the_end_that_is_a_full_device_fails_the_run_and_no_other_file(
    sums: Project, name: str
) -> None:
    blocked = (
        "import os, pathlib\n\n"
        "def pytest_runtest_teardown(nextitem):\n"
        "    if nextitem is None:\n"
        "        [run] = pathlib.Path('reports').glob('2*')\n"
        f"        (run / f'.{name}.{{os.getpid()}}').symlink_to('/dev/full')\n"
    )
    sums.write("conftest.py", blocked)
    result = sums.run("--llmeval-model=python/./model.py:reply", "-n0")
    result.assert_outcomes(passed=12)
    assert result.ret == 1
    said = f"{name} could not be written: OSError: [[]Errno 28] No space left on device*"
    result.stdout.fnmatch_lines([said])
    assert result.outlines[-1].startswith(f"{name} could not be written: OSError: [Errno 28]")
    assert result.outlines[-1].endswith(" - exit status 1")
    written = {file.name for file in (sums.path / "reports" / "latest").iterdir()}
    assert {"rows.csv", "summary.json", "summary.md", "report.html"} - written == {name}
