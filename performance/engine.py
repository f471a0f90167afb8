"""Runs plain pytest over samples that a local server answers after a while: wall and CPU, requests, peak in flight.

    python performance/engine.py                  # DESIGN's sizes, all modes
    python performance/engine.py --samples 200 --modes serial

The server runs in its own process, so the CPU seconds are pytest's, its workers' and their children's. Machines are
shared and noisy: trust CPU seconds and counts before wall time, and wall time as a multiple of the ideal.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.fixture import ModelServer, serving

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
    # A wait stands for scoring, so that the figure does not depend on how many cores there are for it.
    time.sleep(SCORING)
    assert completion.answer
"""

PLAIN = """
import pytest

@pytest.mark.parametrize("n", range(SAMPLES))
def test_plain(n):
    assert n >= 0
"""

MODES = {
    "serial": ["-p", "no:xdist"],
    "-n 2": ["-n", "2"],
    "-n 4": ["-n", "4"],
    "-n 4 worksteal": ["-n", "4", "--dist", "worksteal"],
}


@dataclass(frozen=True, kw_only=True)
class Load:
    """One size: samples, seconds a reply, requests in flight at most, seconds of scoring a sample."""

    samples: int
    latency: float
    concurrency: int
    scoring: float = 0.0

    @property
    def ideal(self) -> float:
        """The seconds that waiting alone takes."""
        return -(-self.samples // self.concurrency) * self.latency


LOADS = (
    Load(samples=200, latency=1.0, concurrency=200),
    Load(samples=2_000, latency=1.0, concurrency=200),
    Load(samples=800, latency=2.0, concurrency=64, scoring=0.1),
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one run of pytest took and asked."""

    load: str
    mode: str
    wall: float
    cpu: float
    ideal: float
    requests: int
    peak: int
    last_line: str


def main() -> None:
    """Measure every load in every mode that is asked for, print a table, then JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, help="only the load with so many samples")
    parser.add_argument("--modes", nargs="*", choices=MODES, default=list(MODES))
    chosen = parser.parse_args()
    loads = [load for load in LOADS if chosen.samples in (None, load.samples)]
    with serving() as server:
        measured = [measure(server, load, mode) for load in loads for mode in chosen.modes]
    print(f"{'load':34} {'mode':15} {'wall s':>7} {'x ideal':>8} {'CPU s':>7} {'requests':>9} {'peak':>5}")
    for found in measured:
        ratio = found.wall / found.ideal
        figures = f"{found.wall:7.1f} {ratio:8.2f} {found.cpu:7.1f} {found.requests:9} {found.peak:5}"
        print(f"{found.load:34} {found.mode:15} {figures}  {found.last_line}")
    print(json.dumps([asdict(found) for found in measured]))


def measure(server: ModelServer, load: Load, mode: str) -> Measured:
    """Run pytest once over a load."""
    server.program(latency=load.latency)
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), load)
        options = ["--llmeval-model", "openai/load", "--llmeval-base-url", server.url]
        options += ["--llmeval-concurrency", str(load.concurrency)]
        wall, cpu, last_line = run_pytest(Path(folder), ["test_load.py", *options, *MODES[mode]])
    report = server.report()
    return Measured(
        load=f"{load.samples} x {load.latency:g} s, {load.concurrency} at once, {load.scoring:g} s scoring",
        mode=mode,
        wall=wall,
        cpu=cpu,
        ideal=load.ideal,
        requests=report["requests"],
        peak=report["peak"],
        last_line=last_line,
    )


def write_project(folder: Path, load: Load) -> None:
    """Write a task of its own with as many samples as the load has."""
    lines = ({"id": n, "question": f"question {n}", "answer": "yes"} for n in range(load.samples))
    (folder / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "task.yaml").write_text(TASK)
    (folder / "test_load.py").write_text(TEST.replace("SCORING", str(load.scoring)))
    (folder / "test_plain.py").write_text(PLAIN.replace("SAMPLES", str(load.samples)))
    (folder / "pytest.ini").write_text("[pytest]\n")


def run_pytest(folder: Path, arguments: list[str]) -> tuple[float, float, str]:
    """Return wall and CPU seconds of one pytest with all its children, and its last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_llmeval.plugin", *arguments]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines()
    return wall, cpu, lines[-1]


if __name__ == "__main__":
    main()
