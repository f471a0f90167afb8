"""The same load for peers.

The interpreter needs `inspect-ai`, `pytest-evals`, `openai` and `pytest-xdist`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine_load import Load

INSPECT = """
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def load():
    samples = [Sample(id=n, input=f"question {n}", target="echo") for n in range(SAMPLES)]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
"""

PYTEST_EVALS = """
import pytest
from openai import OpenAI

client = OpenAI()

@pytest.mark.eval(name="load")
@pytest.mark.parametrize("n", range(SAMPLES))
def test_load(n, eval_bag):
    messages = [{"role": "user", "content": f"question {n}"}]
    reply = client.chat.completions.create(model="load", messages=messages)
    eval_bag.correct = bool(reply.choices[0].message.content)
"""

WORKERS = 16
"""Processes of pytest-evals: more cost a second of CPU and 50 MB each before the first test."""


def write_projects(load: Load, folder: Path) -> None:
    """Write what the peers run."""
    (folder / "inspect_load.py").write_text(INSPECT.replace("SAMPLES", str(load.samples)))
    (folder / "test_peer.py").write_text(PYTEST_EVALS.replace("SAMPLES", str(load.samples)))
    (folder / "pytest.ini").write_text("[pytest]\n")


def commands(python: str, load: Load) -> Mapping[str, Sequence[str]]:
    """Return the command line of each peer, run where its project lies."""
    inspect = [
        python,
        "-m",
        "inspect_ai",
        "eval",
        "inspect_load.py",
        "--model",
        "openai/load",
        "--display",
        "none",
    ]
    inspect += ["--max-connections", str(load.concurrency), "--max-samples", str(load.concurrency)]
    inspect += ["-M", "responses_api=false"]
    return {
        f"Inspect, {load.concurrency}": inspect,
        f"pytest-evals, -n {WORKERS}": [
            python,
            "-m",
            "pytest",
            "-q",
            "test_peer.py",
            "--run-eval",
            "-n",
            str(WORKERS),
        ],
    }


def environment(url: str) -> Mapping[str, str]:
    """Return the variables by which the peers find the server."""
    return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
