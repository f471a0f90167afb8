"""Where no graph database is installed, that is told before a request is paid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

HOUSE = Path(__file__).parents[2] / "fixtures" / "heracles" / "scene.json"
TASK = """
name: rooms
dataset: {{path: data.jsonl, fields: {{id: id, input: question, target: answer}}}}
prompt: {{generate: "{{{{ input }}}}", refine: "{{{{ rows }}}}"}}
solver: {solver}
scorer: exact
"""
SOLVERS = {
    "solver": f"{{cypher: {{scene: {HOUSE}}}}}",
    "tool": f"{{agent: {{tools: {{cypher: {{scene: {HOUSE}}}}}}}}}",
}
TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("rooms.yaml")
def test_rooms(sample, completion):
    assert_correct(sample, completion)
"""
MODEL = """
import pathlib

def reply(request):
    with (pathlib.Path(__file__).parent / "asked.txt").open("a") as asked:
        asked.write("asked\\n")
    return "<answer>MATCH (r:Room) RETURN count(r)</answer>"
"""
# `find_spec` returns None for such a module, as for one that is not installed.
WITHOUT_ARCADEDB = "import sys; sys.modules['arcadedb_embedded'] = None"


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "install the embedded one"),
        (("--llmeval-graph", "arcadedb"), "install the embedded one"),
        (("--llmeval-graph", "neo4j"), "Neo4j is not installed: "),
    ],
)
def test_no_request_is_paid(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    solver: str,
    options: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.setenv("LLMEVAL_CACHE", str(project.path / "no jars"))
    project.write("rooms.yaml", TASK.format(solver=solver))
    samples = [{"id": str(n), "question": f"{n}?", "answer": str(n)} for n in range(3)]
    project.write("data.jsonl", "".join(json.dumps(one) + "\n" for one in samples))
    project.write("test_rooms.py", TEST)
    project.write("model.py", MODEL)
    project.write("conftest.py", WITHOUT_ARCADEDB)
    result = project.run(
        "test_rooms.py", "-n0", "--llmeval-model", "python/./model.py:reply", *options
    )
    assert not (project.path / "asked.txt").exists()
    assert told in result.stdout.str()
    assert result.parseoutcomes().keys() == {"errors"}
