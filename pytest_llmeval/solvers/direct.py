"""The plain solver: one prompt, one reply."""

from __future__ import annotations

from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.records import Completion, Sample


def direct() -> Solver:
    """Return the solver that sends the stage ``generate`` once and takes the reply as it is."""

    async def solve(sample: Sample, context: SolverContext) -> Completion:  # noqa: ARG001 - every solver gets it
        reply = await context.generate(context.prompt())
        return Completion(text=reply.text, stop_reason=reply.stop_reason)

    return solve
