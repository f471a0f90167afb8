"""Time and memory of reading a stored run as data.

    python performance/run_as_data.py                     # 20,000 rows, answers of 20 KB
    python performance/run_as_data.py --rows 5000 --answer 100000

Writes a run folder and, in a process for each way, reads it: rows one at a time, transcripts by
key, the data frame, and all rows at once (`read_run`). Prints seconds, and megabytes (resident, at
their peak) above those of a process that has loaded the run alone.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Asked, Message, ModelCall, Reply, Row, Score, Transcript
from pytest_llmeval.results.store import RunFolder

WAYS = {
    "loaded": "len(run.rows)",
    "rows": "sum(len(row.answer) for row in run.rows)",
    "transcripts": "sum(len(run.transcripts[key].calls) for key in run.by_key)",
    "dataframe": "run.dataframe()",
    "read_run": "read_run(run.path)",
}

PROGRAM = """
import resource, sys, time
import pytest_llmeval as e
from pytest_llmeval.results.stored_run import read_run
start = time.perf_counter()
run = e.load_run(sys.argv[1])
{way}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(time.perf_counter() - start, peak // 1024 if sys.platform == "linux" else peak // 2**20)
"""


def write_run(reports: Path, rows: int, length: int) -> Path:
    """Write a run of rows with long answers and one call each."""
    folder = RunFolder.create(reports, {"planned": rows}, redactor=Redactor(secrets={}))
    with closing(folder):
        for n in range(rows):
            answer = (f"sample {n} says " * (length // 12 + 1))[:length]
            score = Score(name="exact", value=1.0, correct=True)
            row = Row(
                test="test_long.py::test_long",
                task="long",
                sample=str(n),
                model="openai/load",
                epoch=1,
                nodeid=f"test_long.py::test_long[{n}]",
                outcome="correct",
                scores=(score,),
                answer=answer,
            )
            asked = Asked(
                stage="generate",
                role="solver",
                model="openai/load",
                parameters={},
                messages=(Message.of("user", f"question {n}"),),
                key=str(n),
            )
            folder.add_row(row)
            call = ModelCall(asked=asked, reply=Reply(text=answer))
            folder.add_transcript(row.key, Transcript(events=(call,)))
    return folder.path


def main() -> None:
    """Write a run and read it in each way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--answer", type=int, default=20_000, help="characters of each answer")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = write_run(Path(name), chosen.rows, chosen.answer)
        base = 0
        for way, line in WAYS.items():
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM.format(way=line), str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            seconds, peak = done.stdout.split()
            base = base or int(peak)
            print(f"{way:12} {float(seconds):7.2f} s  {peak:>6} MB  +{int(peak) - base} MB")


if __name__ == "__main__":
    main()
