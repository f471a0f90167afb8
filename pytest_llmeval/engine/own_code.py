"""The solver, its roles and the answer rule of a task; their failures name the task."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pytest_llmeval.engine.blocking import BlockingContext, run_in_thread
from pytest_llmeval.engine.context import ReadySolver, Solver, SolverContext
from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.records import Completion, Role, Sample
from pytest_llmeval.roles import SOLVER, is_role
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.task import Task
from pytest_llmeval.task.declared import MisfitError, named_solver
from pytest_llmeval.task.registry import ANSWERS

AnswerRule = Callable[[str], str | None]
"""Returns the answer in a completion's text; None when there is none."""


def solver_of(task: Task) -> Solver:
    """Return the task's solver.

    A solver may be a plain function, which runs in a thread, and may return text in place of a
    completion. If it raises another exception than an LLMEvalError, or returns another type, the
    call raises a TaskError that names it.

    Raises:
        TaskError: the function does not exist, or its options or parameters are wrong.
    """
    solve = _named(task)
    if not _is_async(solve):
        solve = _threaded(solve)
    return _checked(task, solve)


def ready_solver_of(task: Task) -> ReadySolver | None:
    """Return the task's solver as it was written, if it has `get_ready`; else None.

    Raises:
        TaskError: as `solver_of`.
    """
    solve = _named(task)
    return solve if isinstance(solve, ReadySolver) else None


def roles_of(task: Task) -> tuple[Role, ...]:
    """Return the roles that the task's solver declares to ask, beside the model under test.

    Raises:
        TaskError: as `solver_of`, or what it declares are no roles.
    """
    declared = getattr(_named(task), "roles", ())
    names = declared if isinstance(declared, tuple | list) else (declared,)
    wrong = next((name for name in names if not is_role(name) or name == SOLVER), None)
    if wrong is not None or names is not declared:
        problem = (
            f"the solver {task.solver.name} declares the roles {declared!r}; they are a tuple of "
            f"names, each of small letters, digits, _ and -, and other than {SOLVER!r}"
        )
        raise _error(task, "solver", problem)
    return tuple(dict.fromkeys(names))


def answer_rule_of(task: Task) -> AnswerRule:
    """Return the task's answer rule.

    If a rule that is not built in raises an exception, or returns neither text nor None, the call
    raises a TaskError that names it.

    Raises:
        TaskError: the name is unknown, the function does not exist or cannot be loaded, or it
            cannot be called with one text.
    """
    try:
        function = ANSWERS.load(task.answer, task.folder)
    except (TaskError, UsageError) as error:
        raise _error(task, "answer", str(error)) from None
    if ":" not in task.answer and task.answer in ANSWERS.own:
        return function
    with suppress(ValueError):  # functions written in C may have no signature
        signature = inspect.signature(function)
        try:
            signature.bind("text")
        except TypeError:
            raise _error(task, "answer", f"{task.answer} must take (text)") from None

    def answer(text: str) -> str | None:
        try:
            found = function(text)
        except BaseException as error:
            problem = f"{task.answer} failed: {described_with_place(error)}"
            raise _error(task, "answer", problem) from error
        if found is not None and not isinstance(found, str):
            problem = f"{task.answer} returned a {type(found).__name__}, not text or None"
            raise _error(task, "answer", problem)
        return found

    return answer


def _named(task: Task) -> Callable[..., Any]:
    """Return the task's solver as it was written."""
    try:
        solve: Callable[..., Any] = task.named_solver or named_solver(task.solver, task.folder)
    except MisfitError as error:
        key = ".".join(map(str, error.place))
        raise TaskError(error.problem, file=task.file, line=task.line("solver"), key=key) from None
    return solve


def _is_async(solve: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(solve) or inspect.iscoroutinefunction(
        getattr(solve, "__call__", None)  # noqa: B004 - the method of an object
    )


def _threaded(
    function: Callable[[Sample, BlockingContext], Any],
) -> Callable[[Sample, SolverContext], Any]:
    async def solve(sample: Sample, context: SolverContext) -> object:
        view = BlockingContext(context, asyncio.get_running_loop())
        try:
            return await run_in_thread(function, sample, view)
        except asyncio.CancelledError:
            view.stop()
            raise

    return solve


def _checked(task: Task, solve: Callable[[Sample, SolverContext], Any]) -> Solver:
    async def checked(sample: Sample, context: SolverContext) -> Completion:
        try:
            result = await solve(sample, context)
        except (LLMEvalError, asyncio.CancelledError):
            raise
        # Others too: a KeyboardInterrupt of the solver's own is not the user's.
        except BaseException as error:
            problem = (
                f"{task.solver.name} failed on sample {sample.id!r}: {described_with_place(error)}"
            )
            raise _error(task, "solver", problem) from error
        if isinstance(result, str):
            return Completion(text=result)
        if not isinstance(result, Completion):
            kind = type(result).__name__
            problem = f"{task.solver.name} returned a {kind}, not a Completion or text"
            raise _error(task, "solver", problem)
        return result

    return checked


def _error(task: Task, key: str, problem: str) -> TaskError:
    return TaskError(problem, file=task.file, line=task.line(*key.split(".")), key=key)
