"""From the names in a task file to its scorers and its solver, with their options checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.scoring.function import FunctionScorer
from pytest_llmeval.scoring.scorer import PreparingScorer, Scorer
from pytest_llmeval.task.options import OptionError, build, checked
from pytest_llmeval.task.registry import SCORERS, SOLVERS
from pytest_llmeval.task.spec import Spec

SCORED_BY: Final = ("answer", "sample")
"""The parameters of a function that is a scorer."""

SOLVED_BY: Final = ("sample", "context")
"""The parameters of a function that is a solver."""

_PARTS: Final = ("name", "grader", "scale", "check", "score")


class MisfitError(Exception):
    """What a task names cannot be used as it is; `place` is the path to it in the task file."""

    def __init__(self, place: tuple[str | int, ...], problem: str) -> None:
        """Keep place and problem."""
        super().__init__(problem)
        self.place, self.problem = place, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredScorer:
    """A scorer as a task declares it; `decides`: the outcome of a sample follows its score."""

    scorer: Scorer
    decides: bool
    spec: Spec

    @property
    def prepares(self) -> PreparingScorer | None:
        """The scorer, if it asks models ahead of the test."""
        if isinstance(self.scorer, PreparingScorer) and not self.scorer.only_incorrect:
            return self.scorer
        return None


def declared_scorers(
    specs: Sequence[Spec], decides: Sequence[str], folder: Path
) -> tuple[DeclaredScorer, ...]:
    """Return the scorers of a task.

    Args:
        specs: as the file names them.
        decides: ``first``, ``all``, ``any``, or names of scores.
        folder: where files beside the task are.

    Raises:
        MisfitError: a scorer or an option does not fit.
    """
    places = [("scorer",) if len(specs) == 1 else ("scorer", i) for i in range(len(specs))]
    scorers = [make_scorer(spec, folder, at) for spec, at in zip(specs, places, strict=True)]
    names = [scorer.name for scorer in scorers]
    for index, name in enumerate(names):
        if name in names[:index]:
            problem = f"is another scorer called {name!r}; give it a `name`"
            raise MisfitError(places[index], problem)
    deciding = _deciding(scorers, decides)
    return tuple(
        DeclaredScorer(scorer=scorer, decides=scorer.name in deciding, spec=spec)
        for scorer, spec in zip(scorers, specs, strict=True)
    )


def make_scorer(spec: Spec, folder: Path, at: tuple[str | int, ...] = ("scorer",)) -> Scorer:
    """Return the scorer that `spec` names; MisfitError if it, or an option, does not fit."""
    made = _made(SCORERS.load, spec, folder, at, SCORED_BY)
    if isinstance(made, _Function):
        if inspect.iscoroutinefunction(made.function):
            problem = (
                f"{spec.name} is async; a scorer is a plain function, "
                "or a class whose `prepare` asks models"
            )
            raise MisfitError(at, problem)
        name = spec.name.rpartition(":")[2]
        return FunctionScorer(
            function=made.function, name=name, grader=spec.name, options=made.options
        )
    missing = [part for part in _PARTS if not hasattr(made, part)]
    if missing:
        problem = f"{spec.name} is no scorer: it has no {', '.join(missing)}"
        raise MisfitError((*at, spec.name), problem)
    scorer: Scorer = made
    return scorer


def named_solver(spec: Spec, folder: Path) -> Any:  # noqa: ANN401 - the engine's port, above this layer
    """Return the solver object of a spec with a registered name; MisfitError if it does not fit."""
    made = _made(SOLVERS.load, spec, folder, ("solver",), SOLVED_BY)
    return made.bound if isinstance(made, _Function) else made


def _deciding(scorers: Sequence[Scorer], decides: Sequence[str]) -> set[str]:
    if not decides:
        problem = "is empty; name what decides: first, all, any, or names of scores"
        raise MisfitError(("decides",), problem)
    able = [one.name for one in scorers if not getattr(one, "only_incorrect", False)]
    if tuple(decides) == ("first",):
        return set(able[:1])
    if tuple(decides) in {("all",), ("any",)}:
        return set(able)
    for name in decides:
        if name not in able:
            allowed = ", ".join(("first", "all", "any", *able))
            problem = f"is {name!r} (allowed: {allowed})"
            raise MisfitError(("decides",), problem)
    return set(decides)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function that is the thing itself, with its checked options."""

    function: Callable[..., Any]
    options: Mapping[str, Any]

    @property
    def bound(self) -> Callable[..., Any]:
        """The function of its first parameters alone."""
        function, options = self.function, self.options
        if not options:
            return function
        if inspect.iscoroutinefunction(function):

            async def waiting(*arguments: object) -> object:
                return await function(*arguments, **options)

            return waiting
        return lambda *arguments: function(*arguments, **options)


def _made(
    load: Callable[[str, Path], Callable[..., Any]],
    spec: Spec,
    folder: Path,
    at: tuple[str | int, ...],
    parameters: tuple[str, ...],
) -> Any:  # noqa: ANN401 - a scorer or a solver, or a `_Function`
    try:
        found = load(spec.name, folder)
        if own := own_parameters(found):
            if len(own) != len(parameters):
                problem = f"{spec.name} must take ({', '.join(parameters)})"
                raise MisfitError(at, problem)
            return _Function(found, checked(found, spec.options, folder, skip=own))
        return build(found, spec.options, folder)
    except OptionError as error:
        place = (*at, spec.name) if error.option is None else (*at, spec.name, error.option)
        raise MisfitError(place, str(error)) from None
    except UsageError as error:
        raise MisfitError(at, str(error)) from None
    except (TaskError, MisfitError):
        raise
    except Exception as error:
        problem = f"{spec.name} cannot be made: {type(error).__name__}: {error}"
        raise MisfitError((*at, spec.name), problem) from error


def own_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the positional parameters of a function that have no default; () of a class.

    A function that has some is the solver or scorer itself; one that has none makes it, and its
    parameters are options.
    """
    if inspect.isclass(function):
        return ()
    try:
        known = inspect.signature(function).parameters.values()
    except ValueError:
        return ()
    return tuple(
        one.name
        for one in known
        if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD} and one.default is one.empty
    )
