"""The scorers and the solver that a task declares, made from their names and checked options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.function import FunctionScorer
from pytest_llmeval.scoring.scorer import AskingScorer, PreparingScorer, Scorer
from pytest_llmeval.task.options import OptionError, build, checked
from pytest_llmeval.task.registry import SCORERS, SOLVERS
from pytest_llmeval.task.spec import Spec

SCORED_BY: Final = ("answer", "sample")
"""The positional parameters of a function that is a scorer."""

SOLVED_BY: Final = ("sample", "context")
"""The positional parameters of a function that is a solver."""

_PARTS: Final = ("name", "grader", "scale", "check", "score")
"""The attributes of the port `Scorer`."""


class MisfitError(Exception):
    """A scorer, a solver or an option in a task file cannot be used.

    Attributes:
        place: the keys that lead to it in the task file.
        problem: what is wrong, and the fix.
    """

    def __init__(self, place: tuple[str | int, ...], problem: str) -> None:
        """Store place and problem."""
        super().__init__(problem)
        self.place, self.problem = place, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredScorer:
    """A scorer as a task declares it.

    Attributes:
        scorer: the scorer.
        decides: whether the outcome of a sample follows its score.
        spec: its name and options in the task file.
    """

    scorer: Scorer
    decides: bool
    spec: Spec

    @property
    def prepares(self) -> PreparingScorer | None:
        """The scorer, if the engine prepares its scores before the test runs; else None."""
        if isinstance(self.scorer, PreparingScorer) and not self.scorer.only_incorrect:
            return self.scorer
        return None

    @property
    def asks(self) -> AskingScorer | None:
        """The scorer, if it asks models before the test runs; else None."""
        return self.prepares if isinstance(self.prepares, AskingScorer) else None


def declared_scorers(
    specs: Sequence[Spec], decides: Sequence[str], folder: Path
) -> tuple[DeclaredScorer, ...]:
    """Return the scorers of a task.

    Args:
        specs: names and options in the task file.
        decides: ``first``, ``all``, ``any``, or names of scores.
        folder: where relative paths start.

    Raises:
        MisfitError: a scorer or an option is invalid, or two scorers have the same name.
    """
    places = [("scorer",) if len(specs) == 1 else ("scorer", i) for i in range(len(specs))]
    scorers = [make_scorer(spec, folder, at) for spec, at in zip(specs, places, strict=True)]
    names = [scorer.name for scorer in scorers]
    for index, name in enumerate(names):
        if name in names[:index]:
            problem = f"is a second scorer called {name!r}; give it another `name`"
            raise MisfitError(places[index], problem)
    deciding = _deciding(scorers, decides)
    return tuple(
        DeclaredScorer(scorer=scorer, decides=scorer.name in deciding, spec=spec)
        for scorer, spec in zip(scorers, specs, strict=True)
    )


def make_scorer(spec: Spec, folder: Path, at: tuple[str | int, ...] = ("scorer",)) -> Scorer:
    """Return the scorer that `spec` names.

    Args:
        spec: its name and options.
        folder: where relative paths start.
        at: the keys that lead to it in the task file.

    Raises:
        MisfitError: it is not a scorer, or an option is invalid.
    """
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
        problem = f"{spec.name} is not a scorer: it has no {', '.join(missing)}"
        raise MisfitError((*at, spec.name), problem)
    scorer: Scorer = made
    return scorer


def named_solver(spec: Spec, folder: Path) -> Any:  # noqa: ANN401 - a port of a layer above
    """Return the solver that `spec` names.

    Args:
        spec: its name and options.
        folder: where relative paths start.

    Raises:
        MisfitError: it does not exist, cannot be made, or an option is invalid.
    """
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
    """A function that is itself the scorer or solver, with its checked options."""

    function: Callable[..., Any]
    options: Mapping[str, Any]

    @property
    def bound(self) -> Callable[..., Any]:
        """The function with its options filled in."""
        function, options = self.function, self.options
        if not options:
            return function
        if inspect.iscoroutinefunction(function):

            async def waiting(*arguments: object) -> object:
                return await function(*arguments, **options)

            return _with_attributes(function, waiting)
        return _with_attributes(function, lambda *arguments: function(*arguments, **options))


def _with_attributes(function: Callable[..., Any], bound: Callable[..., Any]) -> Callable[..., Any]:
    """Return `bound` with what `function` declares as attributes, such as `roles`."""
    vars(bound).update(vars(function))
    return bound


def _made(
    load: Callable[[str, Path], Callable[..., Any]],
    spec: Spec,
    folder: Path,
    at: tuple[str | int, ...],
    parameters: tuple[str, ...],
) -> Any:  # noqa: ANN401 - a scorer, a solver, or a `_Function`
    """Return what `spec` names: an object made from its options, or a `_Function`.

    `parameters` are those that a function must have to be a scorer or a solver itself.
    """
    try:
        found = load(spec.name, folder)
        own = own_parameters(found)
        if own and len(own) == len(parameters):
            return _Function(found, checked(found, spec.options, folder, skip=own))
        made = None if own else build(found, spec.options, folder)
    except OptionError as error:
        raise MisfitError((*at, spec.name, *error.place), str(error)) from None
    except (UsageError, TaskError) as error:
        raise MisfitError(at, str(error)) from None
    except MisfitError:
        raise
    except Exception as error:
        problem = f"{spec.name} cannot be made: {described_with_place(error)}"
        raise MisfitError((*at, spec.name), problem) from error
    if own:
        problem = f"{spec.name} must take ({', '.join(parameters)})"
        raise MisfitError(at, problem)
    return made


def own_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the positional parameters of a function that have no default; () for a class.

    A function with such parameters is itself the solver or scorer. One without them makes the
    solver or scorer, and its parameters are options.
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
