"""Peak memory of the main process with many planned samples, compared with plain pytest.

    python performance/engine_memory.py [--samples 100000] [--run 2000] [--workers 2]

Both sessions collect everything and stop after some tests: by then the plan stands, the look-ahead
is full and hundreds of replies have come and gone. Prints megabytes (resident, at their peak).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from engine_load import Load, run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.fixture import serving

STOPPING = """
import os, resource, sys
import pytest

reports = 0

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    global reports
    reports += report.when == "call"
    if reports == RUN and "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.exit("enough", 0)

def pytest_unconfigure(config):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with open("peak.txt", "w") as file:
            file.write(str(peak // 1024 if sys.platform == "linux" else peak // 2**20))
"""


def main() -> None:
    """Measure plain pytest and ours, serially or under xdist, and print the difference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument(
        "--run", type=int, default=2_000, help="tests after which both sessions stop"
    )
    parser.add_argument("--workers", type=int, default=0, help="xdist's -n")
    chosen = parser.parse_args()
    load = Load(samples=chosen.samples, latency=0.2, concurrency=200)
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "pytest_llmeval.plugin",
        "-n",
        str(chosen.workers),
    ]
    with serving() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        load.write_project(folder)
        (folder / "conftest.py").write_text(STOPPING.replace("RUN", str(chosen.run)))
        server.program(**load.program("calm"))
        ours = [
            "--llmeval-model",
            f"openai/load,base_url={server.url}",
            "--llmeval-report",
            "reports",
        ]
        ours += ["--llmeval-concurrency", str(load.concurrency)]
        peaks = {}
        for session, arguments in {
            "plain": ["test_plain.py"],
            "ours": ["test_load.py", *ours],
        }.items():
            took = run([*pytest, *arguments], folder, {"OPENAI_API_KEY": "none", **os.environ})
            peaks[session] = int((folder / "peak.txt").read_text())
            times = f"{took.wall:6.1f} s  {took.cpu:6.1f} CPU s"
            print(f"{session:6} {peaks[session]:6} MB  {times}  {took.last_line}")
        peaks |= {
            "over plain": peaks["ours"] - peaks["plain"],
            "requests": server.report()["requests"],
        }
    print(json.dumps(peaks))


if __name__ == "__main__":
    main()
