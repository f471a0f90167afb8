"""The keys ``solver``, ``scorer`` and ``metrics`` of a task file: names, possibly with options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, JsonValue

from pytest_llmeval.task.registry import SCORERS, SOLVERS, Registry
from pytest_llmeval.task.section import refusal, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """The name of a solver or scorer, with its options.

    Attributes:
        name: a name of a registry, or a reference to a function (``./solver.py:solve``).
        options: values by name, not yet checked.
    """

    name: str
    options: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def is_function(self) -> bool:
        """Whether `name` refers to a function."""
        return ":" in self.name


def spec_of(value: object, registry: Registry, at: tuple[int, ...] = ()) -> Spec:
    """Return the spec of a YAML value: ``name`` or ``{name: {option: value}}``.

    Args:
        value: what stands there.
        registry: the names that are known.
        at: its index, in a list of specs.

    Raises:
        PydanticCustomError: the value has another form, or the registry does not know the name.
    """
    if isinstance(value, Spec):
        return value
    name, options = _name_and_options(value, registry.kind, at)
    if not registry.knows(name):
        raise refusal(at, registry.unknown(name))
    if not isinstance(options, dict):
        raise refusal((*at, name), f"has the options {shown(options)}, not a mapping")
    # A text of an override is none that a record can hold.
    return Spec(name=str(name), options=options)


def _name_and_options(value: object, kind: str, at: tuple[int, ...]) -> tuple[str, object]:
    if isinstance(value, str):
        return value, {}
    if isinstance(value, dict) and len(value) == 1:
        ((name, options),) = value.items()
        return name, {} if options is None else options
    problem = (
        f"is {shown(value)}; write a {kind}'s name, or one {kind} with its options: "
        "{name: {option: value}}"
    )
    raise refusal(at, problem)


def _solver(value: Any) -> Spec:  # noqa: ANN401 - a value of the task file
    return spec_of(value, SOLVERS)


def _scorers(value: Any) -> tuple[Spec, ...]:  # noqa: ANN401 - a value of the task file
    if value is None:
        return ()
    if isinstance(value, tuple):
        return value
    if isinstance(value, list):
        return tuple(spec_of(one, SCORERS, (index,)) for index, one in enumerate(value))
    return (spec_of(value, SCORERS),)


def _metrics(value: Any) -> tuple[str | dict[str, Any], ...]:  # noqa: ANN401 - as above
    entries = tuple(value) if isinstance(value, list | tuple) else (value,)
    for index, entry in enumerate(entries):
        if not isinstance(entry, str) and not (isinstance(entry, dict) and len(entry) == 1):
            problem = f"is {shown(entry)}; a metric is a string, or {{name: options}}"
            raise refusal((index,), problem)
    return entries


SolverField: TypeAlias = Annotated[Spec, BeforeValidator(_solver)]
"""``direct``, ``{agent: {turns: 8}}``, ``./solver.py:solve`` or ``module:solve``."""

ScorersField: TypeAlias = Annotated[tuple[Spec, ...], BeforeValidator(_scorers)]
"""One scorer or a list of them, each in the form of a solver; without one the test decides."""

MetricsField: TypeAlias = Annotated[tuple[str | dict[str, Any], ...], BeforeValidator(_metrics)]
"""One metric or a list of them: ``accuracy``, ``{pass_at: [1, 10]}``, ``./metrics.py:mine``."""
