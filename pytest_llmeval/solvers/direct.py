"""The solver ``direct``: one prompt, one reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Completion, Json, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectSolver:
    """Sends the stage ``generate`` once and takes the reply as it is."""

    stages: ClassVar[tuple[str, ...]] = ("generate",)

    def variables(self) -> Mapping[str, Json]:
        """Return no variables: the sample alone fills the prompt."""
        return {}

    async def __call__(self, sample: Sample, context: SolverContext) -> Completion:  # noqa: ARG002 - part of the port
        """Solve one sample."""
        reply = await context.generate(context.prompt())
        return Completion(text=reply.text, stop_reason=reply.stop_reason)
