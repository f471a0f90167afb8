"""A run inside the event loop: it answers the wishes that tests send in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.context import Solver
from pytest_llmeval.engine.models import Gauge, Models
from pytest_llmeval.engine.own_code import AnswerRule, answer_rule_of, solver_of
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.sample_run import SampleRun, Surroundings
from pytest_llmeval.engine.scheduler import Scheduler
from pytest_llmeval.engine.scoring_run import ScoringRun
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import (
    LLMEvalError,
    ProviderError,
    RunStopped,
    ScorerError,
    TaskError,
    UsageError,
    error_to_json,
)
from pytest_llmeval.records import (
    Completion,
    Json,
    Message,
    Reply,
    RowKey,
    Sample,
    StageNote,
    Transcript,
)
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.scoring.scorer import PreparingScorer
from pytest_llmeval.task import Task
from pytest_llmeval.task.catalog import Catalog, LoadedTask
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.spec import Spec

KeepTranscript = Callable[[RowKey, Transcript], None]
"""Takes a sample's transcript once its solver is done or has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How far a run looks ahead: `window` samples; one may take `sample_timeout` seconds."""

    window: int
    sample_timeout: float | None = None


class Run:
    """Completes the plan's samples and serves single requests, all inside one event loop."""

    def __init__(  # noqa: PLR0913 - the composition root hands in every collaborator
        self,
        *,
        plan: Plan,
        catalog: Catalog,
        models: Models,
        choice: ModelChoice,
        around: Surroundings,
        pace: Pace,
        keep_transcript: KeepTranscript,
        completions: Mapping[RowKey, Completion] | None = None,
    ) -> None:
        """Run `plan`; nothing is asked before the first wish.

        Args:
            plan: the tests.
            catalog: the tasks.
            models: the way to all models.
            choice: which model a test asks.
            around: what all samples share.
            pace: how far is looked ahead.
            keep_transcript: takes each sample's transcript.
            completions: the stored completions that are scored again, one for each test; None if
                the tasks' solvers make them.

        Raises:
            UsageError: the data are not what this process reads, or a test has no model to ask.
        """
        for file, _, digest in plan.tasks:
            if catalog.load(Path(file)).digest != digest:
                msg = (
                    f"{file}: the dataset changed during the run, or the workers read another one; "
                    "run again"
                )
                raise UsageError(msg)
        self._plan, self._catalog, self._models = plan, catalog, models
        self._choice, self._around, self._keep_transcript = choice, around, keep_transcript
        self._pace = pace
        self._scheduler = Scheduler(
            len(plan.tests), self._complete, window=pace.window, fatal=self._is_fatal
        )
        self._completions = completions
        needed = choice.needed if completions is None else choice.scoring
        self._needs = [{model.bare for model in needed(test)} for test in plan.kinds]
        self._solvers: dict[str, Solver] = {}
        self._rules: dict[str, AnswerRule] = {}

    async def answer(self, worker: str, want: str, arguments: dict[str, Json]) -> Json:
        """Return the JSON answer to one wish of a test.

        ``completion`` brings a `Solved`, ``prepare`` what a scorer prepares for an answer,
        ``generate`` a `Reply`.
        """
        match want:
            case "completion":
                position = self._position(str(arguments["nodeid"]))
                return (await self._scheduler.completion(worker, position)).to_json()
            case "prepare":
                return await self._prepare_for(arguments)
            case "generate":
                return (await self._generate_for(arguments)).to_json()
            case _:
                msg = f"the engine knows no wish {want!r}"
                raise UsageError(msg)

    @property
    def gauge(self) -> Gauge:
        """How the calls stand. May be read from any thread."""
        return self._models.gauge

    @property
    def effort(self) -> Effort:
        """The figures of all calls of the session."""
        return self._models.effort

    def discard(self, nodeid: str) -> None:
        """Give up the place of a test that is over."""
        if (position := self._plan.index.get(nodeid)) is not None:
            self._scheduler.discard(position)

    async def close(self, reason: str, *, grace: float = 0.0) -> None:
        """Cancel what runs, raise RunStopped in the tests that wait, and close what is open.

        Replies under way are paid: those that come within `grace` seconds are kept, and a resumed
        run finds them.
        """
        await self._scheduler.stop(RunStopped(reason))
        try:
            await self._models.close(grace=grace)
        finally:
            await self._around.resources.close()

    def hurry(self) -> None:
        """Have `close` wait for no reply any more."""
        self._models.cancel()

    def _position(self, nodeid: str) -> int:
        position = self._plan.index.get(nodeid)
        if position is None:
            msg = (
                f"{nodeid} was not planned: name `completion` in the test's arguments, "
                "not by getfixturevalue"
            )
            raise UsageError(msg)
        return position

    async def _complete(self, position: int, ticket: Ticket) -> Solved:
        test = self._plan.tests[position]
        calls = Calls(self._models, ticket, epoch=test.epoch)
        try:
            solved = await self._solve_in_time(test, calls, ticket)
            completion = replace(solved.completion, transcript=calls.transcript)
            return replace(solved, completion=completion)
        except LLMEvalError as error:
            calls.note(StageNote(stage="error", text=f"{type(error).__name__}: {error}"))
            raise
        finally:
            self._keep_transcript(test.key, calls.transcript)

    async def _solve_in_time(self, test: PlannedTest, calls: Calls, ticket: Ticket) -> Solved:
        """Solve in the sample's time, which starts with its first request: queueing is free."""
        loop, seconds = asyncio.get_running_loop(), self._pace.sample_timeout
        try:
            async with asyncio.timeout(None) as deadline:

                def start_clock() -> None:
                    if deadline.when() is None and seconds is not None:
                        deadline.reschedule(loop.time() + seconds)

                ticket.on_sent = start_clock
                completion = await self._solve_safely(test, calls)
                return await self._prepared(test, completion, calls)
        except TimeoutError:
            msg = (
                f"sample {test.sample!r}: not done within {seconds:g} s (--llmeval-sample-timeout)"
            )
            raise LLMEvalError(msg) from None

    async def _solve_safely(self, test: PlannedTest, calls: Calls) -> Completion:
        """Solve; every failure is an LLMEvalError that names solver and sample."""
        loaded = self._catalog.load(Path(test.file))
        place = f"solver {loaded.task.solver.name}, sample {test.sample!r}"
        try:
            completion = await self._solve(loaded, test, calls)
            plain_json(dict(completion.details), f"{place}, field 'details'")
        except ScorerError as error:
            raise TaskError(str(error), file=test.file, key="solver") from None
        except LLMEvalError:
            raise
        except Exception as error:
            msg = f"{place}: {type(error).__name__}: {error}"
            raise LLMEvalError(msg) from error
        return completion

    async def _solve(self, loaded: LoadedTask, test: PlannedTest, calls: Calls) -> Completion:
        """Run the solver and take the answer out of its text, if there is no stored completion."""
        if self._completions is not None:
            return self._completions[test.key]
        task, sample = loaded.task, loaded.by_id[test.sample]
        run = SampleRun(task, sample, self._choice.solver(test), calls, self._around)
        completion = await self._solver(task)(sample, run)
        if completion.answer is None:
            completion = replace(completion, answer=self._rule(task)(completion.text))
        return completion

    async def _prepared(self, test: PlannedTest, completion: Completion, calls: Calls) -> Solved:
        """Return the completion with what the task's scorers prepare for it.

        A scorer's failure that costs only this sample leaves the completion as it is.
        """
        loaded = self._catalog.load(Path(test.file))
        prepared: dict[str, Json] = {}
        failed: dict[str, Json] = {}
        scorers = [one.prepares for one in loaded.scorers] if completion.answer is not None else []
        for scorer in filter(None, scorers):
            sample = loaded.by_id[test.sample]
            try:
                prepared[scorer.name] = await self._prepare(test, scorer, sample, completion, calls)
            except ProviderError as error:
                if error.reach == "model":
                    raise
                failed[scorer.name] = error_to_json(error)
        return Solved(completion=completion, prepared=prepared, failed=failed)

    async def _prepare(
        self,
        test: PlannedTest | None,
        scorer: PreparingScorer,
        sample: Sample,
        completion: Completion,
        calls: Calls,
    ) -> Json:
        """Return what a scorer prepares; every failure is an LLMEvalError that names it."""
        models = self._choice.judges(test, scorer.models)
        context = ScoringRun(models, calls, self._around.resources)
        try:
            prepared = await scorer.prepare(sample, completion, context)
            return plain_json(prepared, f"sample {sample.id!r}, scorer {scorer.name!r}")
        except LLMEvalError:
            raise
        except Exception as error:
            msg = f"scorer {scorer.name}, sample {sample.id!r}: {type(error).__name__}: {error}"
            raise ScorerError(msg) from error

    def _is_fatal(self, error: LLMEvalError) -> bool:
        """Whether no sample can be completed any more: every kind of test lost a model."""
        return isinstance(error, RunStopped) or all(
            needs & self._models.lost.keys() for needs in self._needs
        )

    def _solver(self, task: Task) -> Solver:
        key = str(task.file)
        if key not in self._solvers:
            self._solvers[key] = solver_of(task)
        return self._solvers[key]

    def _rule(self, task: Task) -> AnswerRule:
        key = str(task.file)
        if key not in self._rules:
            self._rules[key] = answer_rule_of(task)
        return self._rules[key]

    async def _prepare_for(self, arguments: dict[str, Json]) -> Json:
        """Return what a scorer prepares for an answer of a test's body, and the calls it took."""
        test, calls = self._on_behalf_of(arguments)
        sample = Sample.from_json(arguments["sample"])
        completion = Completion.from_json(arguments["completion"])
        scorer = self._scorer_of(test, arguments)
        try:
            prepared = await self._prepare(test, scorer, sample, completion, calls)
        finally:
            if test is not None and calls.transcript.events:
                events = (*completion.transcript.events, *calls.transcript.events)
                self._keep_transcript(test.key, Transcript(events=events))
        return {"prepared": prepared, "transcript": calls.transcript.to_json()}

    def _scorer_of(self, test: PlannedTest | None, arguments: dict[str, Json]) -> PreparingScorer:
        """Return the scorer that a wish names: one of the test's task, or one by its spec."""
        name, options = cast("tuple[str, dict[str, Json]]", arguments["scorer"])
        declared = () if test is None else self._catalog.load(Path(test.file)).scorers
        for one in declared:
            if one.scorer.name == name and isinstance(one.scorer, PreparingScorer) and not options:
                return one.scorer
        try:
            made = make_scorer(Spec(name=name, options=options), Path.cwd())
        except MisfitError as error:
            raise UsageError(error.problem) from None
        if not isinstance(made, PreparingScorer):
            msg = f"scorer {name!r} prepares nothing"
            raise UsageError(msg)
        return made

    async def _generate_for(self, arguments: dict[str, Json]) -> Reply:
        test, calls = self._on_behalf_of(arguments)
        return await calls.ask(
            self._choice.solver(test),
            tuple(map(Message.from_json, cast("list[Json]", arguments["messages"]))),
            stage="test",
            parameters=cast("dict[str, Json]", arguments["parameters"]),
            draw=cast("int", arguments["draw"]),
        )

    def _on_behalf_of(self, arguments: dict[str, Json]) -> tuple[PlannedTest | None, Calls]:
        """Return the planned test that a body's request comes from, if it is one.

        A test waits for the reply, so it goes before what is asked ahead.
        """
        position = self._plan.index.get(str(arguments["nodeid"]))
        test = None if position is None else self._plan.tests[position]
        ticket = Ticket(order=position or 0, urgent=True)
        return test, Calls(self._models, ticket, epoch=1 if test is None else test.epoch)
