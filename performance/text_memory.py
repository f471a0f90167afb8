"""Peak memory of the main process of a run with long prompts and replies.

    python performance/text_memory.py                          # 20,000 samples, 10 KB and 20 KB
    python performance/text_memory.py --samples 5000 --reply 20 --prompt 20
    python performance/text_memory.py --workers 2

A local server sends every reply; half of the samples are incorrect. The run writes its folder, with
CSV and report. Prints megabytes (resident, at their peak) of pytest's main process, and what each
sample adds to an empty session.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from engine_load import run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.fixture import serving

TASK = """
name: long
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer}}
prompt: [{user: "{{ input }}"}]
answer: whole
scorer: includes
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("task.yaml")

def test_long(sample, completion):
    assert_correct(sample, completion)
"""

PEAK = """
import os, resource, sys

def pytest_unconfigure(config):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with open("peak.txt", "w") as file:
            file.write(str(peak // 1024 if sys.platform == "linux" else peak // 2**20))
"""


def text_of(number: int, length: int) -> str:
    """Return a text of some length that is like no other."""
    words = f"sample {number} asks of line {number * 7919 % 1_000_003}; "
    return (words * (length // len(words) + 1))[: max(length, 20)]


def write_project(folder: Path, samples: int, prompt: int) -> None:
    """Write a task with long inputs; every second target is not in the reply."""
    with (folder / "data.jsonl").open("w", encoding="utf-8") as file:
        for n in range(samples):
            target = "yes" if n % 2 else "no such word"
            line = {"id": n, "question": text_of(n, prompt), "answer": target}
            file.write(json.dumps(line) + "\n")
    (folder / "task.yaml").write_text(TASK)
    (folder / "test_long.py").write_text(TEST)
    (folder / "conftest.py").write_text(PEAK)
    (folder / "pytest.ini").write_text("[pytest]\n")


def main() -> None:
    """Measure a run of one sample and one of many, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--prompt", type=int, default=10_000, help="characters of each prompt")
    parser.add_argument("--reply", type=int, default=20_000, help="characters of each reply")
    parser.add_argument("--workers", type=int, default=0, help="xdist's -n")
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "pytest_llmeval.plugin"]
    # It keeps the exception of every failed test, with all that its frames hold.
    command += ["-p", "no:rerunfailures", "-p", "no:hypothesispytest", "--show-capture=no"]
    command += ["-n", str(chosen.workers)]
    command += ["-r", "N", "--llmeval-report", "reports", "--llmeval-concurrency", "100"]
    peaks = {}
    with serving() as server:
        for samples in (1, chosen.samples):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                write_project(folder, samples, chosen.prompt)
                server.program(reply={"content": "yes: " + text_of(1, chosen.reply)})
                model = ["--llmeval-model", f"openai/load,base_url={server.url}"]
                took = run([*command, *model], folder, {"OPENAI_API_KEY": "none", **os.environ})
                peaks[samples] = int((folder / "peak.txt").read_text())
            times = f"{took.wall:6.1f} s  {took.cpu:6.1f} CPU s"
            print(f"{samples:7,} samples {peaks[samples]:6} MB  {times}  {took.last_line}")
    each = (peaks[chosen.samples] - peaks[1]) * 1024 / chosen.samples
    print(
        json.dumps({**vars(chosen), "peak_mb": peaks[chosen.samples], "kb_a_sample": round(each)})
    )


if __name__ == "__main__":
    main()
