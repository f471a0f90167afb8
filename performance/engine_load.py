"""The loads of `engine.py`: samples, the server's behaviour, the tests, and what a run took."""

from __future__ import annotations

import json
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TASK = """
name: load
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer}}
prompt: [{user: "{{ input }}"}]
answer: whole
"""

TEST = """
import time, pytest
pytestmark = pytest.mark.llmeval("task.yaml")

def test_load(sample, completion):
    # A wait stands for scoring: the figure does not depend on the number of cores.
    time.sleep(SCORING)
    assert completion.answer
"""

PLAIN = """
import pytest

@pytest.mark.parametrize("n", range(SAMPLES))
def test_plain(n):
    assert n >= 0
"""

WEATHERS = ("calm", "sampled", "bursts", "faults")
"""How the server answers: in time; in times from half to one and a half; with 429 above half of the
concurrency; every tenth attempt with 429, a reset connection or garbage."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """One size.

    Attributes:
        samples: number of samples.
        latency: seconds of a reply.
        concurrency: requests in flight, at most.
        scoring: seconds of scoring for each sample.
    """

    samples: int
    latency: float
    concurrency: int
    scoring: float = 0.0

    @property
    def ideal(self) -> float:
        """The seconds that waiting alone takes."""
        return -(-self.samples // self.concurrency) * self.latency

    def program(self, weather: str) -> Mapping[str, Any]:
        """Return the server's program (`tests/servers/openai_server.py`)."""
        match weather:
            case "sampled":
                return {"latency": [self.latency / 2, self.latency * 1.5]}
            case "bursts":
                return {"latency": self.latency, "ceiling": self.concurrency // 2}
            case "faults":
                kinds = [
                    {"kind": "429", "retry_after": "1"},
                    {"kind": "reset"},
                    {"kind": "garbage"},
                ]
                return {"latency": self.latency, "share": 0.1, "kinds": kinds}
            case _:
                return {"latency": self.latency}

    def write_project(self, folder: Path) -> None:
        """Write a task with the load's number of samples, and as many plain tests."""
        lines = (
            {"id": n, "question": f"question {n}", "answer": "yes"} for n in range(self.samples)
        )
        (folder / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "task.yaml").write_text(TASK)
        (folder / "test_load.py").write_text(TEST.replace("SCORING", str(self.scoring)))
        (folder / "test_plain.py").write_text(PLAIN.replace("SAMPLES", str(self.samples)))
        (folder / "pytest.ini").write_text("[pytest]\n")

    def __str__(self) -> str:
        """Return the sizes as the tables show them."""
        scoring = f", {self.scoring:g} s scoring" if self.scoring else ""
        return f"{self.samples} x {self.latency:g} s, {self.concurrency} at once{scoring}"


@dataclass(frozen=True, kw_only=True)
class Took:
    """Time of a process and its children (s), and the last line that it printed."""

    wall: float
    cpu: float
    last_line: str


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Took:
    """Run a command in a folder to its end, whatever its status."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # What goes wrong stands in stderr.
    lines = (done.stderr if done.returncode else done.stdout).strip().splitlines() or [""]
    return Took(wall=wall, cpu=cpu, last_line=lines[-1].strip())
