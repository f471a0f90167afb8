"""Question -> Cypher -> rows -> answer: the pipeline ``feedforward_cypher`` of Heracles.

Source: seed 001 and arXiv 2510.16643. A query that fails is never carried on as if its message were
data.
"""

from __future__ import annotations

from pytest_llmeval.domains.heracles.query import MISSING_TAGS, extract_query
from pytest_llmeval.domains.heracles.solve_findings import is_sldp, query_findings
from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.records import Completion, GraphQuery, Json, Message, Reply, Sample
from pytest_llmeval.task.answers import tagged

REPAIR_REQUEST = (
    "That query could not be used: {reason}\n\n"
    "Correct it, and give the whole corrected query between <answer> and </answer>."
)
"""What a model is told about its failed query."""


def cypher(*, repair: int = 0) -> Solver:
    """Return the solver that asks the prompt's stages ``generate`` and ``refine``.

    ``generate`` must bring a query between answer tags. It runs, and ``refine``, which is given
    ``query`` and ``rows``, makes the final reply of them. A query that is missing, refused or
    failing goes back to the model with the reason, at most `repair` times; after that the sample
    has no answer. The details tell ``valid_cypher``, ``valid_sldp`` (of the final reply's answer),
    ``turns`` (model calls), of the last query ``cypher``, ``rows`` and ``query_seconds``, and, of a
    failure, ``reason``.
    """
    if type(repair) is not int or repair < 0:
        msg = (
            f"repair is {repair!r}; it is how often a failed query goes back, a whole number from 0"
        )
        raise ValueError(msg)

    async def solve(sample: Sample, context: SolverContext) -> Completion:  # noqa: ARG001 - every solver gets it
        messages = context.prompt("generate")
        reply, query = await _ask_for_rows(context, messages, "generate")
        turns = 1
        while (reason := _failure(query)) is not None and turns <= repair:
            messages = (*messages, Message.of("assistant", reply.text), _repair_request(reason))
            reply, query = await _ask_for_rows(context, messages, "repair")
            turns += 1
        details: dict[str, Json] = {**query_findings(query), "valid_sldp": False, "turns": turns}
        if query is None or reason is not None:
            # No text: the reply's answer tags hold a query, which must not be taken for the answer.
            return Completion(
                text="", stop_reason=reply.stop_reason, details={**details, "reason": reason}
            )
        final = await context.generate(
            context.prompt("refine", query=query.cypher, rows=query.text), stage="refine"
        )
        details |= {"valid_sldp": is_sldp(tagged(final.text)), "turns": turns + 1}
        return Completion(text=final.text, stop_reason=final.stop_reason, details=details)

    return solve


async def _ask_for_rows(
    context: SolverContext, messages: tuple[Message, ...], stage: str
) -> tuple[Reply, GraphQuery | None]:
    """Return the model's reply, and what its query brought, if it holds one."""
    reply = await context.generate(messages, stage=stage)
    query = extract_query(reply.text)
    return reply, None if query is None else await context.query(query, stage=stage)


def _failure(query: GraphQuery | None) -> str | None:
    """Return why there are no rows, None when there are."""
    return MISSING_TAGS if query is None else query.error


def _repair_request(reason: str) -> Message:
    return Message.of("user", REPAIR_REQUEST.format(reason=reason))
