"""Cypher as a tool of solvers: a graph database for each scene of a run, shared by all samples."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_llmeval.domains.heracles.address import (
    NO_GRAPH,
    GraphAddress,
    GraphChoice,
    OwnServer,
    graph_address,
)
from pytest_llmeval.domains.heracles.findings import query_findings
from pytest_llmeval.domains.heracles.scene_graph import check_scene_file, read_class_names
from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Display, Json, ToolUse

if TYPE_CHECKING:
    from pytest_llmeval.domains.heracles.graph import Graph

TOOL_NAME: Final = "run_cypher_query"
"""Name under which models call the tool ``cypher``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherTool:
    """Runs a query of the model on the scene's graph database, for the solver ``agent``.

    It gives prompts ``classes`` (class names by label). Findings: ``queries`` (that were run or
    refused), ``failed_queries``, and of the last one ``cypher``, ``valid_cypher``, ``rows`` and
    ``query_seconds``.

    Attributes:
        scene: a scene graph as spark_dsg saves it, in JSON; None for the graph that the server
            named by ``--llmeval-graph`` holds already.
    """

    name: ClassVar[str] = TOOL_NAME
    description: ClassVar[str] = (
        "Runs one Cypher query that only reads on the graph database and returns its rows."
    )
    parameters: ClassVar[Mapping[str, Json]] = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "The Cypher query."}},
        "required": ["query"],
        "additionalProperties": False,
    }
    display: ClassVar[Display] = Display(
        shares=("valid_cypher",), headings={"valid_cypher": "valid Cypher"}
    )

    scene: Path | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if `scene` does not name a file."""
        if self.scene is not None:
            check_scene_file(self.scene)

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompt."""
        return {"classes": known_classes(self.scene)}

    async def check(self, context: RunContext) -> None:
        """Raise an error if no database can be had; see `check_graph`."""
        await check_graph(context, self.scene)

    async def get_ready(self, context: RunContext) -> None:
        """Start the database."""
        await start_graph(context, self.scene)

    async def __call__(
        self, arguments: Mapping[str, Json], context: SolverContext, *, stage: str
    ) -> ToolUse:
        """Run the query of one call."""
        return await run_cypher(context, self.scene, str(arguments["query"]), stage=stage)

    def findings(self, uses: Sequence[ToolUse]) -> Mapping[str, Json]:
        """Return details about the queries of one sample."""
        return {
            **query_findings(uses[-1] if uses else None),
            "queries": len(uses),
            "failed_queries": sum(use.error is not None for use in uses),
        }


async def check_graph(context: RunContext, scene: Path | None) -> None:
    """Check that a database can be had, before a sample's first request is paid.

    No server is started or reached; what is installed is looked at once in a run.

    Raises:
        UsageError: the option ``--llmeval-graph`` is wrong, or there is neither a scene nor a
            server that holds a graph.
        ToolError: the server that the run would start is not installed.
    """
    choice = graph_address(context)
    if isinstance(choice, GraphAddress):
        return
    if scene is None:
        raise UsageError(NO_GRAPH)

    async def check() -> None:
        await asyncio.to_thread(_check_own_server, choice)

    await context.shared(f"check of {_key(choice, scene)}", check)


def known_classes(scene: Path | None) -> dict[str, Json]:
    """Return the class names by label of a scene, none of what a server holds.

    Raises:
        TaskError: the scene cannot be read.
    """
    return {} if scene is None else read_class_names(scene)


async def run_cypher(
    context: SolverContext, scene: Path | None, cypher: str, *, stage: str = "query"
) -> ToolUse:
    """Run a model's query on the graph database of a scene, and record it in the transcript.

    The database is the one that ``--llmeval-graph`` names, else a Neo4j of our own where one is
    installed, else an embedded ArcadeDB. `start_graph` or the run's first query opens it and loads
    the scene.

    Args:
        context: the context of the solver that calls this.
        scene: a scene graph as spark_dsg saves it, in JSON; None for what the server holds.
        cypher: the query as the model wrote it; only reading queries are run.
        stage: name of the solver's stage in the record.

    Returns:
        The rows as text in `output` and their number in `count`, or why there are none in `error`.

    Raises:
        ToolError: the database could not be started, reached, loaded or asked.
        TaskError: the scene could not be read.
        UsageError: the option ``--llmeval-graph`` is wrong.

    Example::

        use = await run_cypher(context, Path("scene.json"), "MATCH (r:Room) RETURN count(r)")
    """
    use = await (await start_graph(context, scene)).query(cypher, stage=stage)
    context.record(use)
    return use


async def start_graph(context: RunContext, scene: Path | None) -> Graph:
    """Return the graph database of a scene, which is opened once in a run; errors as `run_cypher`.

    A solver or a tool calls it in its `get_ready`, so that the database starts beside the run's
    first requests.
    """
    choice = graph_address(context)

    async def start() -> Graph:
        # The driver is heavy, and most processes that load a solver never run it.
        from pytest_llmeval.domains.heracles.graph import open_graph  # noqa: PLC0415 - as said

        return await open_graph(choice, scene, progress=context.tell)

    return await context.shared(_key(choice, scene), start)


def _check_own_server(choice: OwnServer | None) -> None:
    from pytest_llmeval.domains.heracles.graph import own_server  # noqa: PLC0415 - loads the driver

    own_server(choice).check()


def _key(choice: GraphChoice, scene: Path | None) -> str:
    """Return the same text for all uses of one scene on one database."""
    name = choice.uri if isinstance(choice, GraphAddress) else choice or "of our own"
    held = "what it holds" if scene is None else scene.resolve()
    return f"graph database {name} with {held}"
