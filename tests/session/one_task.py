"""A task of a few questions and its plan, for tests of sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

TASK = """name: sums
dataset: {path: sums.jsonl, fields: {input: question, target: answer, images: "picture?"}}
prompt: "{{ input }}"
"""


class OneTask:
    """A task in a folder."""

    def __init__(self, folder: Path, more: str = "", *, samples: int = 3, **columns: Any) -> None:
        """Write the task, with `more` YAML at its end and `columns` in every row."""
        self.folder, self.file = folder, folder / "sums.yaml"
        rows = [
            {"id": n, "question": f"what is {n}?", "answer": str(n), **columns}
            for n in range(samples)
        ]
        (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.file.write_text(TASK + more)

    def catalog(self) -> Catalog:
        return Catalog(folder=self.folder)

    def settings(self, **given: Any) -> Settings:
        return Settings(folder=str(self.folder), **given)

    def plan(self, *models: str, epochs: int = 1) -> Plan:
        """Return the plan of all samples under each model; none is the task's recording."""
        loaded = self.catalog().load(self.file)
        tests = tuple(
            PlannedTest(
                f"t.py::t[{sample.id}-{model}-{epoch}]",
                "t.py::t",
                str(self.file),
                "sums",
                sample.id,
                model,
                epoch,
            )
            for model in models or ("",)
            for sample in loaded.samples
            for epoch in range(1, epochs + 1)
        )
        return Plan(tests=tests, tasks=((str(self.file), "sums", loaded.digest),))
