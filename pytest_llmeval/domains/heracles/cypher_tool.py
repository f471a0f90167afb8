"""Cypher as a tool of solvers: a graph database for each scene of a run, shared by all samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.domains.heracles.address import GraphAddress, graph_address
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import ToolUse

if TYPE_CHECKING:
    from pytest_llmeval.domains.heracles.graph import Graph


async def run_cypher(
    context: SolverContext, scene: Path | None, cypher: str, *, stage: str = "query"
) -> ToolUse:
    """Run a model's query on the graph database of a scene, and record it in the transcript.

    The database is the one that ``--llmeval-graph`` names, else an embedded one. The run's first
    query opens it and loads the scene.

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
    address = graph_address(context)

    async def start() -> Graph:
        # The driver is heavy, and most processes that load a solver never run it.
        from pytest_llmeval.domains.heracles.graph import open_graph  # noqa: PLC0415 - as said

        return await open_graph(address, scene, progress=context.tell)

    graph = await context.shared(_key(address, scene), start)
    use = await graph.query(cypher, stage=stage)
    context.record(use)
    return use


def _key(address: GraphAddress | None, scene: Path | None) -> str:
    """Return the same text for all uses of one scene on one database."""
    held = "what it holds" if scene is None else scene.resolve()
    return f"graph database {address.uri if address else 'embedded'} with {held}"
