"""From what a task names to what the engine calls: its solver and its rule for the answer."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_llmeval.engine.blocking import BlockingContext, run_in_thread
from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.errors import LLMEvalError, TaskError
from pytest_llmeval.records import Completion, Sample
from pytest_llmeval.task.answers import RULES
from pytest_llmeval.task.callables import load_callable

if TYPE_CHECKING:
    from pytest_llmeval.task import Task


def resolve_solver(task: Task) -> Solver:
    """Return the task's solver; TaskError when its options or its function are wrong."""
    if not task.solver.is_callable:
        return _built_in(task)
    function = load_callable(task.solver.name, task.folder, confined=True)
    _check_parameters(task, "solver", task.solver.name, function, ("sample", "context"))
    return _checked(
        task, function if inspect.iscoroutinefunction(function) else _threaded(function)
    )


def resolve_answer(task: Task) -> Callable[[str], str | None]:
    """Return the task's rule: a function from the model's text to the answer in it, or None."""
    if task.answer in RULES:
        return RULES[task.answer]
    function = load_callable(task.answer, task.folder, confined=True)
    _check_parameters(task, "answer", task.answer, function, ("text",))

    def answer(text: str) -> str | None:
        try:
            found = function(text)
        except Exception as error:
            raise _error(
                task, "answer", f"{task.answer} failed: {type(error).__name__}: {error}"
            ) from error
        if found is not None and not isinstance(found, str):
            raise _error(
                task, "answer", f"{task.answer} returned a {type(found).__name__}, not text or None"
            )
        return found

    return answer


def _built_in(task: Task) -> Solver:
    from pytest_llmeval.task.spec import SOLVERS  # noqa: PLC0415 - pydantic is loaded with the task

    module, _, name = SOLVERS[task.solver.name].partition(":")
    factory = getattr(importlib.import_module(module), name)
    known = inspect.signature(factory).parameters
    for option in task.solver.options:
        if option not in known:
            allowed = f"allowed: {', '.join(known)}" if known else "it has none"
            raise _error(
                task,
                f"solver.{task.solver.name}.{option}",
                f"is no option of this solver ({allowed})",
            )
    try:
        solver: Solver = factory(**task.solver.options)
    except (TypeError, ValueError) as error:
        raise _error(task, f"solver.{task.solver.name}", str(error)) from None
    return solver


def _threaded(
    function: Callable[[Sample, BlockingContext], Any],
) -> Callable[[Sample, SolverContext], Any]:
    async def solve(sample: Sample, context: SolverContext) -> Any:  # noqa: ANN401 - the task's function decides
        view = BlockingContext(context, asyncio.get_running_loop())
        try:
            return await run_in_thread(function, sample, view)
        except asyncio.CancelledError:
            view.stop()
            raise

    return solve


def _checked(task: Task, solve: Callable[[Sample, SolverContext], Any]) -> Solver:
    """Return the task's own solver with its faults told as the task's, and text taken for a completion."""

    async def checked(sample: Sample, context: SolverContext) -> Completion:
        try:
            result = await solve(sample, context)
        except LLMEvalError:
            raise
        except (Exception, SystemExit) as error:
            problem = f"{task.solver.name} failed on sample {sample.id!r}: {type(error).__name__}: {error}"
            raise _error(task, "solver", problem) from error
        if isinstance(result, str):
            return Completion(text=result)
        if not isinstance(result, Completion):
            problem = (
                f"{task.solver.name} returned a {type(result).__name__}, not a Completion or text"
            )
            raise _error(task, "solver", problem)
        return result

    return checked


def _check_parameters(
    task: Task, key: str, name: str, function: Callable[..., Any], parameters: tuple[str, ...]
) -> None:
    with suppress(ValueError):  # some built-in functions have no signature that Python knows
        signature = inspect.signature(function)
        try:
            signature.bind(*parameters)
        except TypeError:
            raise _error(task, key, f"{name} must take ({', '.join(parameters)})") from None


def _error(task: Task, key: str, problem: str) -> TaskError:
    return TaskError(problem, file=task.file, line=task.line(*key.split(".")), key=key)
