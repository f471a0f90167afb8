"""A file that is replaced is whole at any moment, and its writers leave nothing else behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_llmeval.files.atomic import write_atomically

KILLED_AMID = """
import os, signal, sys
from pathlib import Path
from pytest_llmeval.files.atomic import write_atomically

def parts():
    yield "half"
    os.kill(os.getpid(), signal.SIGKILL)

write_atomically(Path(sys.argv[1]), parts())
"""


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    file = tmp_path / "rows[1].csv"
    file.write_text("old")
    killed = subprocess.run([sys.executable, "-c", KILLED_AMID, str(file)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    assert file.read_text() == "old"
    write_atomically(file, "new")
    assert [one.name for one in tmp_path.iterdir()] == [file.name]
    assert file.read_text() == "new"


@pytest.mark.parametrize("name", [".a.csv.{lives}", ".b.csv.{dead}", ".a.csv.old", ".a.csv.", "a"])
def test_files_of_living_writers_and_of_others_stay(tmp_path: Path, name: str) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        dead = ended.pid
    other = tmp_path / name.format(lives=os.getppid(), dead=dead)
    other.write_text("theirs")
    write_atomically(tmp_path / "a.csv", "ours")
    assert other.read_text() == "theirs"
