"""A project whose questions the model server repeats after ``echo: ``, and runs over it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers.openai_server import png

if TYPE_CHECKING:
    from servers.fixture import ModelServer

PATIENCE = 120
"""Seconds after which a run that should have ended counts as hanging."""

TASK = """
name: echo
dataset:
  path: data.jsonl
  fields: {id: id, input: question, target: answer, images: ['picture?']}
prompt:
  - user: "{{ input }}"
"""

TEST = """
import pytest

pytestmark = pytest.mark.llmeval("task.yaml")

def test_echo(sample, completion):
    assert completion.text == sample.target
"""


def at(server: ModelServer, *more: str, limits: str = "") -> list[str]:
    """Return the options of a run that asks a server's model, within `limits` (``timeout=3``)."""
    settings = f",base_url={server.url}" + (f",{limits}" if limits else "")
    return ["--llmeval-model", f"openai/x{settings}", *more]


@dataclass(frozen=True)
class EchoProject:
    """A folder with one task of questions ``say 0``, ``say 1``, ..."""

    path: Path

    @classmethod
    def make(
        cls,
        path: Path,
        *,
        samples: int,
        wrong: Collection[int] = (),
        pictured: Collection[int] = (),
    ) -> EchoProject:
        """Write the project.

        Args:
            path: its folder.
            samples: number of samples.
            wrong: those whose targets are not what the server says.
            pictured: those with a picture.
        """
        (path / "grey.png").write_bytes(png())
        (path / "pytest.ini").write_text(
            "[pytest]\nfilterwarnings = error\nllmeval_report = reports\n"
        )
        (path / "task.yaml").write_text(TASK)
        (path / "test_echo.py").write_text(TEST)
        answers = {n: "no echo" if n in wrong else f"echo: say {n}" for n in range(samples)}
        rows = (
            {"id": n, "question": f"say {n}", "answer": answer}
            | ({"picture": "grey.png"} if n in pictured else {})
            for n, answer in answers.items()
        )
        (path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return cls(path)

    def start(
        self, *arguments: str, folder: str = ".", python: str | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Start pytest in `folder`, without variables that name a key or an endpoint."""
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("OPENAI", "LLMEVAL"))
        }
        command = [
            python or sys.executable,
            "-m",
            "pytest",
            "-p",
            "pytest_llmeval.plugin",
            "-p",
            "no:randomly",
            *arguments,
        ]
        return subprocess.Popen(
            command,
            cwd=self.path / folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=_hear_ctrl_c,  # noqa: PLW1509 - the tests start no threads of their own
            **options,
        )

    def run(self, *arguments: str, typed: str | None = None, folder: str = ".") -> tuple[int, str]:
        """Return exit status and output of a run that reads what is `typed`."""
        with self.start(
            *arguments, folder=folder, stdin=None if typed is None else subprocess.PIPE
        ) as process:
            output = self.ended(process, typed)
        return process.returncode, output

    @staticmethod
    def ended(process: subprocess.Popen[str], typed: str | None = None) -> str:
        """Return the output of a run at its end; fail the test if it hangs."""
        try:
            return process.communicate(typed, timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail(f"the run hangs: {process.communicate()[0]}")

    def rows(self) -> list[dict[str, Any]]:
        """Return the last run's rows, as they were written."""
        lines = (self.path / "reports" / "latest" / "rows.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def outcomes(self) -> Counter[str]:
        """Return how many samples ended in which way, by the last row of each."""
        return Counter({row["sample"]: row["outcome"] for row in self.rows()}.values())

    def stored(self) -> int:
        """Return how many replies the last run has kept."""
        file = self.path / "reports" / "latest" / "replies.sqlite3"
        with closing(sqlite3.connect(file)) as store:
            count: int = store.execute("SELECT count(*) FROM replies").fetchone()[0]
        return count

    def summary(self) -> dict[str, Any]:
        """Return the last run's summary."""
        file = self.path / "reports" / "latest" / "summary.json"
        told: dict[str, Any] = json.loads(file.read_text())
        return told


def _hear_ctrl_c() -> None:
    """Undo that a shell lets its background jobs, and all that they start, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
