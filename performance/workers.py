"""What workers of a command and of Ray cost over local ones, from start to exit.

    python performance/workers.py                        # 200 samples, two workers, two repetitions
    python performance/workers.py --ray 10.0.0.1:6379    # a cluster with two free processors, too

The same samples, which a scripted model answers at once, run with ``-n 2``, on two workers of a
command, and on two of Ray. CPU seconds are those of the session and all its children, which the
workers of a command are and those of Ray are not. Machines are shared: trust ratios within one run.
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
from pathlib import Path
from statistics import median

TASK = """
name: sums
dataset: {path: data.jsonl, fields: {id: null, input: question, target: answer}}
prompt: "{{ input }}"
answer: last_line
scorer: number
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
def test_sums(sample, completion):
    assert_correct(sample, completion)
"""

MODEL = "def reply(request):\n    return '1'\n"


def project(folder: Path, samples: int) -> None:
    """Write a project whose samples all have the answer 1."""
    (folder / "task.yaml").write_text(TASK)
    (folder / "test_sums.py").write_text(TEST)
    (folder / "model.py").write_text(MODEL)
    lines = [json.dumps({"question": f"{n} to the 0th", "answer": "1"}) for n in range(samples)]
    (folder / "data.jsonl").write_text("\n".join(lines))


def run(folder: Path, samples: int, *where: str) -> tuple[float, float]:
    """Return wall and CPU seconds of one session; RuntimeError if a sample is missing."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_llmeval.plugin", "-p"]
    model = ["no:hypothesispytest", "--llmeval-model", "python/./model.py:reply"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [*command, *model, *where], cwd=folder, capture_output=True, text=True, check=False
    )
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if f"{samples} passed" not in done.stdout:
        raise RuntimeError(done.stdout + done.stderr)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def main() -> None:
    """Print a line for each way to run the samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--ray", help="address of a cluster")
    asked = parser.parse_args()
    ways = {"-n 2": ("-n2",), "command": ("--llmeval-workers", f"2*{sys.executable}")}
    if asked.ray:
        ways["ray"] = ("--llmeval-workers", f"ray:2,address={asked.ray},wait=120")
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as place:
        project(Path(place), asked.samples)
        run(Path(place), asked.samples)  # compiles, and fills caches
        for _ in range(asked.repetitions):
            for way, where in ways.items():
                times[way].append(run(Path(place), asked.samples, *where))
    local = [median(column) for column in zip(*times["-n 2"], strict=True)]
    print(f"{asked.samples} samples, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for way, taken in times.items():
        wall, used = (median(column) for column in zip(*taken, strict=True))
        ratio = f"{wall / local[0]:.2f} x wall, {used / local[1]:.2f} x CPU"
        print(f"{way:8} {wall:6.1f} s wall {used:6.1f} s CPU   {ratio}")


if __name__ == "__main__":
    main()
