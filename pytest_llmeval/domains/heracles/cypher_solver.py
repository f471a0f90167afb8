"""Question -> Cypher -> rows -> answer: the pipeline ``feedforward_cypher`` of Heracles.

Source: arXiv 2510.16643.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from pytest_llmeval.domains.heracles.cypher_tool import (
    check_graph,
    known_classes,
    run_cypher,
    start_graph,
)
from pytest_llmeval.domains.heracles.feed_forward import Language, check_repair, write_and_run
from pytest_llmeval.domains.heracles.findings import query_findings
from pytest_llmeval.domains.heracles.query import MISSING_TAGS, extract_query
from pytest_llmeval.domains.heracles.scene_graph import check_scene_file
from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.records import Completion, Display, Json, Sample, ToolUse

REPAIR_REQUEST: Final = (
    "That query could not be used: {reason}\n\n"
    "Correct it, and give the whole corrected query between <answer> and </answer>."
)
"""Message to a model about its failed query (str.format field: reason)."""

_CYPHER = Language(extract=extract_query, missing=MISSING_TAGS, repair_request=REPAIR_REQUEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherSolver:
    """Asks for a query (stage ``generate``), runs it, and asks for an answer (stage ``refine``).

    The reply to ``generate`` must hold a query between answer tags. A query that is missing,
    refused or failing goes back to the model with the reason, at most `repair` times; after that
    the sample has no answer. Prompts are given ``classes`` (class names by label), ``refine`` also
    ``query`` and ``rows``.

    Details: ``valid_cypher``, ``turns`` (model calls), of the last query ``cypher``, ``rows`` and
    ``query_seconds``, and after a failure ``reason``.

    Attributes:
        scene: a scene graph as spark_dsg saves it, in JSON; None for the graph that the server
            named by ``--llmeval-graph`` holds already.
        repair: how often a failed query goes back.
    """

    stages: ClassVar[tuple[str, ...]] = ("generate", "refine")
    display: ClassVar[Display] = Display(
        shares=("valid_cypher",), headings={"valid_cypher": "valid Cypher"}
    )

    scene: Path | None = None
    repair: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values."""
        if self.scene is not None:
            check_scene_file(self.scene)
        check_repair(self.repair, "query")

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompts as far as they are known before any reply."""
        return {"classes": known_classes(self.scene), "query": "", "rows": ""}

    async def get_ready(self, context: RunContext) -> None:
        """Start the database."""
        await start_graph(context, self.scene)

    async def __call__(
        self,
        sample: Sample,  # noqa: ARG002 - every solver gets it
        context: SolverContext,
    ) -> Completion:
        """Solve one sample."""
        # A wrong option or a missing server is reported before a request is paid.
        await check_graph(context, self.scene)
        classes = known_classes(self.scene)

        async def run(query: str, stage: str) -> ToolUse:
            return await run_cypher(context, self.scene, query, stage=stage)

        messages = context.prompt("generate", classes=classes)
        written = await write_and_run(context, messages, _CYPHER, run, repair=self.repair)
        query, turns = written.use, written.turns
        details: dict[str, Json] = {**query_findings(query), "turns": turns}
        if query is None or written.reason is not None:
            # No text: the reply's answer tags hold a query, which must not count as the answer.
            return Completion(
                text="",
                stop_reason=written.reply.stop_reason,
                details={**details, "reason": written.reason},
            )
        final = await context.generate(
            context.prompt("refine", classes=classes, query=query.input, rows=query.output),
            stage="refine",
        )
        details["turns"] = turns + 1
        return Completion(text=final.text, stop_reason=final.stop_reason, details=details)
