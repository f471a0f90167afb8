"""A folder that pytest runs at once: questions, task, prompts and test."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_llmeval.domains.heracles.questions.schema import Schema
from pytest_llmeval.domains.heracles.questions.schema_text import TASK_FILES, schema_text

DATASET: Final = "questions.yaml"

_TASK: Final = """\
# Questions about a graph, proposed by `llmeval questions`; the model writes Cypher, the query runs,
# and the model answers from its rows in SLDP.
name: "{name}"
version: 1
dataset:
  path: {dataset}
  rows: questions
  fields: {{id: uid, input: question, target: solution, tags: [tags], metadata: {{name: name}}}}
prompt:
  generate:
    - system: {{file: prompts/system.md}}
    - user: {{file: prompts/generate.md}}
  refine:
    - system: {{file: prompts/system.md}}
    - user: {{file: prompts/refine.md}}
generate: {{temperature: 0}}
solver: {{cypher: {options}}}
answer: tagged
scorer: {{sldp: {{tolerance: 0.01}}}}
metrics: [accuracy]
group_by: [tags]
"""

_TEST: Final = '''\
"""Questions about a graph, proposed by `llmeval questions`."""

import pytest

from pytest_llmeval import assert_sldp_equal


@pytest.mark.llmeval("{name}.yaml")
def test_{function}(sample, completion):
    """One query, and its rows refined to an answer, give the solution."""
    assert_sldp_equal(completion.answer, sample.target)
'''


def task_files(folder: Path) -> tuple[Path, ...]:
    """Return the paths of the files that `task_texts` writes, the dataset first."""
    name = _name(folder)
    return tuple(
        folder / file
        for file in (
            DATASET,
            f"{name}.yaml",
            f"test_{_function(name)}.py",
            *(f"prompts/{stage}.md" for stage in ("system", "generate", "refine")),
        )
    )


def task_texts(
    folder: Path, dataset: str, schema: Schema, scene: Path | None
) -> Mapping[Path, str]:
    """Return path and text of each file of a task.

    Args:
        folder: where the files are to be.
        dataset: the questions.
        schema: the graph that they are about, for the prompts.
        scene: the graph's file, which the task refers to; None for what a server holds.
    """
    name = _name(folder)
    # JSON is YAML: whatever the path holds, it stays one text.
    place = scene and json.dumps(os.path.relpath(scene, folder), ensure_ascii=False)
    options = f"{{scene: {place}}}" if place else "{}"
    # A brace in a name of the graph would begin a template's expression.
    graph = schema_text(schema).replace("{", "{{ '{' }}")
    texts = (
        dataset,
        _TASK.format(name=name, dataset=DATASET, options=options),
        _TEST.format(name=name, function=_function(name)),
        _prompt("system"),
        _prompt("generate").replace("[[schema]]", graph),
        _prompt("refine"),
    )
    return dict(zip(task_files(folder), texts, strict=True))


def _name(folder: Path) -> str:
    """Return a task's name made from the folder's."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", folder.resolve().name).strip("_") or "graph_questions"


def _function(name: str) -> str:
    """Return a name for the test, unlike those of test files in other folders."""
    return f"{name.lower()}_questions"


def _prompt(stage: str) -> str:
    return (TASK_FILES / f"{stage}.md").read_text("utf-8")
