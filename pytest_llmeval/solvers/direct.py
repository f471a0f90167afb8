"""The solver ``direct``: one request per sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Completion, Json, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectSolver:
    """Sends the stage ``generate`` once; the reply's text is the completion."""

    stages: ClassVar[tuple[str, ...]] = ("generate",)

    def variables(self) -> Mapping[str, Json]:
        """Return no variables: the sample's fields are enough."""
        return {}

    async def __call__(
        self,
        sample: Sample,  # noqa: ARG002 - a parameter of the port
        context: SolverContext,
    ) -> Completion:
        """Solve one sample."""
        reply = await context.generate(context.prompt())
        return Completion(text=reply.text, stop_reason=reply.stop_reason)
