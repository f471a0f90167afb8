"""A task of a few questions, made where a test wants it."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.task.catalog import LoadedTask

TASK = """
name: {name}
dataset:
  path: {name}.jsonl
  fields: {{id: id, input: question, target: answer}}
prompt:
  - user: "{{{{ input }}}}"
"""


def write_task(folder: Path, *, name: str = "sums", samples: int = 3, more: str = "") -> Path:
    """Write a task whose samples ask ``what is N?`` and return its file; `more` ends its YAML."""
    rows = ({"id": n, "question": f"what is {n}?", "answer": str(n)} for n in range(samples))
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    file = folder / f"{name}.yaml"
    file.write_text(TASK.format(name=name) + more)
    return file


def planned(file: Path, sample: str, *, model: str = "", epoch: int = 1) -> PlannedTest:
    """Return the plan's entry for one sample of a task that is called as its file."""
    return PlannedTest(f"t.py::t[{sample}]", "t.py::t", str(file), file.stem, sample, model, epoch)


def plan_of(loaded: LoadedTask, *, model: str = "") -> Plan:
    """Return a plan of all samples of a task."""
    file = loaded.task.file
    tests = tuple(planned(file, sample.id, model=model) for sample in loaded.samples)
    return Plan(tests=tests, tasks=((str(file), loaded.task.name, loaded.digest),))
