"""The option ``--llmeval-graph``, and the database that it names for all samples of a run."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from domains.heracles.house import Graph
from scripted_context import ScriptedContext

from pytest_llmeval.domains.heracles import graph as module
from pytest_llmeval.domains.heracles import run_cypher
from pytest_llmeval.domains.heracles.address import GraphAddress
from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.records import ToolUse

SCENE = Path("some/scene.json")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("bolt://localhost:7687", GraphAddress(uri="bolt://localhost:7687")),
        ("neo4j+s://db.example", GraphAddress(uri="neo4j+s://db.example")),
        ("bolt://localhost,reset=on", GraphAddress(uri="bolt://localhost", reset=True)),
    ],
)
def test_an_address_is_an_uri_that_may_allow_a_reset(text: str, address: GraphAddress) -> None:
    assert GraphAddress.parse(text) == address


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "http://localhost",
            r"--llmeval-graph 'http://localhost' is no .*expected neo4j, arcadedb, .*bolt://",
        ),
        ("", r"--llmeval-graph '' is no graph database"),
        ("bolt://h,reset=off", r"'bolt://h,reset=off': 'reset=off' is no .*write bolt://h, or"),
        ("bolt://h,", r"'' is no option .* bolt://h,reset=on to have its content deleted"),
        ("bolt://h,reset=on,x=1", r"'reset=on,x=1' is no option"),
    ],
)
def test_anything_else_is_refused_with_option_value_and_fix(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        GraphAddress.parse(text)


class Context(ScriptedContext):
    """A context whose user may be told something."""

    def __init__(self, graph: str | None = None) -> None:
        """Let ``--llmeval-graph`` be `graph`."""
        super().__init__(settings={"graph": graph})
        self.told: list[str] = []

    def tell(self, text: str) -> None:
        self.told.append(text)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[GraphAddress | None, Path]]:
    """Return which databases were opened; no real one is."""
    found: list[tuple[GraphAddress | None, Path]] = []

    async def open_graph(
        address: GraphAddress | None, scene: Path, *, progress: Callable[[str], None]
    ) -> Graph:
        found.append((address, scene))
        progress("graph: opening")
        return Graph()

    monkeypatch.setattr(module, "open_graph", open_graph)
    return found


def run(context: Context, *scenes: Path) -> list[ToolUse]:
    async def query() -> list[ToolUse]:
        return [
            await run_cypher(context, scene, f"RETURN {number}", stage="mine")
            for number, scene in enumerate(scenes)
        ]

    return asyncio.run(query())


def test_all_queries_on_a_scene_share_one_database_and_are_recorded(opened: list[Any]) -> None:
    context = Context("bolt://h,reset=on")
    uses = run(context, SCENE, SCENE)
    assert opened == [(GraphAddress(uri="bolt://h", reset=True), SCENE)]
    assert context.told == ["graph: opening"]
    assert context.recorded == uses
    assert [(use.stage, use.input) for use in uses] == [("mine", "RETURN 0"), ("mine", "RETURN 1")]


def test_each_scene_has_a_database_of_its_own(opened: list[Any]) -> None:
    context = Context()
    run(context, SCENE, Path("other.json"), SCENE)
    assert opened == [(None, SCENE), (None, Path("other.json"))]
    assert len(context.resources) == 2


def test_a_database_that_cannot_be_opened_is_an_error_and_nothing_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(*_: object, **__: object) -> Graph:
        msg = "gone"
        raise ToolError(msg)

    monkeypatch.setattr(module, "open_graph", fail)
    context = Context()
    with pytest.raises(ToolError, match="gone"):
        run(context, SCENE)
    assert context.recorded == []


def test_the_option_is_declared_without_loading_anything_heavy() -> None:
    """Every pytest session loads the declaration."""
    code = (
        "import sys; from pytest_llmeval.session.options import options_called; "
        "(graph,) = options_called(['graph']); "
        "assert graph.metavar == 'WHICH' and 'bolt://' in graph.help; "
        "loaded = {'neo4j', 'msgspec', 'numpy', 'asyncio'} & set(sys.modules); "
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
