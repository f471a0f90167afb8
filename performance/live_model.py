"""All three benchmarks, with three samples a task, on a real model behind a real server.

    python performance/live_model.py                   # `make live`
    python performance/live_model.py -k phybench       # further arguments of pytest

The server is llama.cpp's, the model has 270 million weights and no instruction tuning: its scores
are poor, and no matter. The exit code says whether the machinery worked: 0 if every sample was
answered and scored, except for prompts that are longer than the model's context; 1 otherwise.

The model reads no pictures. So Geometry3K is asked by the texts of its problems alone, and judged
by the same model.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from llama_server import SLOTS, llama_server

from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.stored_run import read_run

ROOT: Final = Path(__file__).parents[1]
SAMPLES: Final = 3
ANSWER_TOKENS: Final = 128
"""Tokens of a reply: a model of this size repeats itself until it is stopped."""

TESTS: Final = (
    "(test_cypher or test_agent or test_in_context or phybench or test_direct or test_choice)"
)
"""Of each way to answer one pipeline."""

BLIND_TASKS: Final = ("geometry3k", "geometry3k_choice")
TOO_LONG: Final = "exceeds the available context"
SCORED: Final[tuple[Outcome, ...]] = ("correct", "incorrect")


def main(arguments: Sequence[str]) -> int:
    """Run the benchmarks, and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        with llama_server(log) as address:
            print(f"{tokens_a_second(address):.0f} tokens a second, one request at a time")
            began = time.monotonic()
            ended = benchmarks(address, Path(folder), arguments)
            print(f"{time.monotonic() - began:.0f} s")
        if ended not in {0, 1}:  # pytest's codes of tests that passed and that failed
            print(f"pytest ended with code {ended}")
            return 1
        return verdict(read_run(Path(folder) / "latest").rows)


def benchmarks(address: str, reports: Path, arguments: Sequence[str]) -> int:
    """Run the benchmarks on the server, and return pytest's exit code."""
    limits = f"concurrency={SLOTS},max_tokens={ANSWER_TOKENS}"
    model = f"openai/gemma-3-270m,base_url={address}/v1,vision=off,{limits}"
    command = [
        *(sys.executable, "-m", "pytest", str(ROOT / "benchmarks"), "--rootdir", str(ROOT)),
        *("-q", "--no-header", "--tb=no", "-r", "", "-p", "no:cacheprovider"),
        *("-k", TESTS, "--llmeval-limit", str(SAMPLES)),
        *("--llmeval-model", model, "--llmeval-judge", model),
        *(f"--llmeval-set={task}.dataset.fields.images=[]" for task in BLIND_TASKS),
        *("--llmeval-report", str(reports), *arguments),
    ]
    # A key of the user's is nothing for this server.
    environ = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    # Ctrl-C reaches pytest too, which ends by it and prints what it has.
    signal.signal(signal.SIGINT, lambda *_: None)
    return subprocess.run(command, check=False, env=environ).returncode


def verdict(rows: Sequence[Row]) -> int:
    """Print what did not work, and return the exit code."""
    outcomes = Counter(row.outcome for row in rows)
    too_long = [row for row in rows if row.outcome == "error" and TOO_LONG in row.explanation]
    failed = [row for row in rows if row.outcome not in SCORED and row not in too_long]
    for row in failed:
        print(f"{row.task} {row.sample}: {row.outcome}: {row.explanation}")
    scored = sum(outcomes[one] for one in SCORED)
    told = f"{scored} samples were answered and scored, {len(too_long)} prompts too long"
    print(f"the machinery {'failed' if failed or not scored else 'worked'}: {told}")
    return 1 if failed or not scored else 0


def tokens_a_second(address: str) -> float:
    """Return how fast the model writes a reply of 128 tokens."""
    body = {"messages": [{"role": "user", "content": "Count from 1 to 100."}], "max_tokens": 128}
    request = urllib.request.Request(  # noqa: S310 - the address of our own server
        f"{address}/v1/chat/completions", json.dumps(body).encode()
    )
    with urllib.request.urlopen(request) as reply:  # noqa: S310 - as above
        return float(json.load(reply)["timings"]["predicted_per_second"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
