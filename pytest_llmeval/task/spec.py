"""Which solver makes completions of a task's samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, JsonValue

from pytest_llmeval.task.part import refusal, shown

SOLVERS: Final[Mapping[str, str]] = {
    "direct": "pytest_llmeval.solvers.direct:direct",
    "cypher": "pytest_llmeval.domains.heracles.solve_cypher:cypher",
    "agent": "pytest_llmeval.domains.heracles.solve_agent:agent",
    "in_context": "pytest_llmeval.domains.heracles.solve_in_context:in_context",
    "visual_cot": "pytest_llmeval.domains.geometry3k.visual_cot:visual_cot",
}
"""The solvers that come with the package: name in a task file, and the factory behind it."""

STAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "direct": ("generate",),
    "cypher": ("generate", "refine"),
    "agent": ("generate",),
    "in_context": ("generate",),
    "visual_cot": ("image", "question"),
}
"""The stages of the prompt that each of them asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A solver as a task names it: one of `SOLVERS` with its options, or a callable (``./solver.py:solve``)."""

    name: str
    options: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def is_callable(self) -> bool:
        """Whether it names the task's own function."""
        return ":" in self.name


def one_key(value: object, what: str) -> tuple[str, object]:
    """Return name and options of ``name`` or ``{name: options}``; refuse anything else."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, dict) and len(value) == 1:
        ((name, options),) = value.items()
        return name, {} if options is None else options
    problem = f"is {shown(value)}; write a {what}'s name, or one {what} with its options: {{name: {{option: value}}}}"
    raise refusal((), problem)


def _spec(value: Any) -> Any:  # noqa: ANN401 - what stands in the file
    if isinstance(value, Spec):
        return value
    name, options = one_key(value, "solver")
    if not isinstance(options, dict):
        raise refusal((name,), f"has the options {shown(options)}, not a mapping")
    if ":" in name:
        if options:
            raise refusal((name,), "is a function of the task's own, which takes no options")
    elif name not in SOLVERS:
        raise refusal(
            (),
            f"is {name!r}",
            given=name,
            allowed=[*SOLVERS, "./file.py:function", "module:function"],
        )
    return Spec(name=name, options=options)


SolverField = Annotated[Spec, BeforeValidator(_spec)]
"""``direct``, ``{cypher: {repair: 1}}``, ``./solver.py:solve`` or ``module:solve``."""
