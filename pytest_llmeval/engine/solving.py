"""Runs the solvers of tasks, and takes the answers out of their completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.context import ReadySolver, Solver
from pytest_llmeval.engine.own_code import AnswerRule, answer_rule_of, ready_solver_of, solver_of
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.sample_run import SampleRun, Surroundings
from pytest_llmeval.errors import LLMEvalError, ScorerError, TaskError
from pytest_llmeval.records import Completion, RowKey
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.task import Task
from pytest_llmeval.task.catalog import Catalog, LoadedTask


class Solving:
    """Solves samples; the solver and the answer rule of each task are loaded once."""

    def __init__(
        self,
        catalog: Catalog,
        choice: ModelChoice,
        around: Surroundings,
        completions: Mapping[RowKey, Completion] | None = None,
    ) -> None:
        """Find tasks in `catalog` and their models by `choice`; solvers may use `around`.

        With stored `completions`, one for each test, no solver runs.
        """
        self._completions = completions
        self._catalog, self._choice, self._around = catalog, choice, around
        self._solvers: dict[str, Solver] = {}
        self._rules: dict[str, AnswerRule] = {}

    async def solve(self, test: PlannedTest, calls: Calls) -> Completion:
        """Return the completion of a test's sample, without its transcript.

        Raises:
            LLMEvalError: the sample failed; the message names solver and sample.
        """
        loaded = self._catalog.at(test.file)
        place = f"solver {loaded.task.solver.name}, sample {test.sample!r}"
        try:
            completion = await self._solve(loaded, test, calls)
            plain_json(dict(completion.details), f"{place}, field 'details'")
        except ScorerError as error:
            raise TaskError(str(error), file=test.file, key="solver") from None
        except LLMEvalError:
            raise
        except Exception as error:
            msg = f"{place}: {described_with_place(error)}"
            raise LLMEvalError(msg) from error
        return completion

    def ready_solvers(self, files: Iterable[str]) -> dict[str, ReadySolver]:
        """Return the solvers of task files that have `get_ready`, by the names of their tasks.

        One that cannot be loaded is left out: its samples tell that.
        """
        found: dict[str, ReadySolver] = {}
        for file in files if self._completions is None else ():
            task = self._catalog.at(file).task
            with suppress(TaskError):
                if (solver := ready_solver_of(task)) is not None:
                    found[task.name] = solver
        return found

    async def _solve(self, loaded: LoadedTask, test: PlannedTest, calls: Calls) -> Completion:
        if self._completions is not None:
            return self._completions[test.key]
        task, sample = loaded.task, loaded.by_id[test.sample]
        model_of = partial(self._choice.of_solver, test=test)
        run = SampleRun(task, sample, model_of, calls, self._around)
        completion = await self._solver(task)(sample, run)
        if completion.answer is None:
            completion = replace(completion, answer=self._rule(task)(completion.text))
        return completion

    def _solver(self, task: Task) -> Solver:
        key = task.name
        if key not in self._solvers:
            self._solvers[key] = solver_of(task)
        return self._solvers[key]

    def _rule(self, task: Task) -> AnswerRule:
        key = task.name
        if key not in self._rules:
            self._rules[key] = answer_rule_of(task)
        return self._rules[key]
