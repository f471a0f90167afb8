"""A run inside the event loop: it answers the wishes that tests send in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pytest_llmeval.domains.heracles.graphs import Graphs
from pytest_llmeval.domains.phybench.labelling import labelled
from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.judging import Case, Prefilter, judge
from pytest_llmeval.engine.models import Gauge, Models
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.engine.sample_run import SampleRun
from pytest_llmeval.engine.scheduler import Scheduler
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, RunStopped, ScorerError, TaskError, UsageError
from pytest_llmeval.records import Completion, Json, Message, Reply, RowKey, StageNote, Transcript
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.task.catalog import Catalog, LoadedTask

if TYPE_CHECKING:
    from pytest_llmeval.engine.context import Solver
    from pytest_llmeval.task import Task

KeepTranscript = Callable[[RowKey, Transcript], None]
"""Takes what happened for a sample, once its solver is done or has failed."""


class Run:
    """Completes the plan's samples and serves single requests, all inside one event loop."""

    def __init__(  # noqa: PLR0913 - the composition root hands in every collaborator
        self,
        *,
        plan: Plan,
        catalog: Catalog,
        models: Models,
        graphs: Graphs,
        choice: ModelChoice,
        image_store: ImageStore,
        window: int,
        keep_transcript: KeepTranscript,
        sample_timeout: float | None = None,
    ) -> None:
        """Run `plan` with look-ahead `window`; a sample may take `sample_timeout` seconds from its first request on.

        UsageError when its data are not what this process reads, or some of its tests have no model
        to ask.
        """
        for file, _, digest in plan.tasks:
            if catalog.load(Path(file)).digest != digest:
                msg = f"{file}: the dataset changed during the run, or the workers read another one; run again"
                raise UsageError(msg)
        self._plan, self._catalog, self._models, self._graphs = plan, catalog, models, graphs
        self._choice, self._image_store, self._keep_transcript = (
            choice,
            image_store,
            keep_transcript,
        )
        self._sample_timeout = sample_timeout
        self._scheduler = Scheduler(
            len(plan.tests), self._complete, window=window, fatal=self._is_fatal
        )
        self._needs = [self._models_for(test) for test in plan.kinds]
        self._prefilter = Prefilter()
        self._solvers: dict[str, Solver] = {}
        self._rules: dict[str, Callable[[str], str | None]] = {}

    async def answer(self, worker: str, want: str, arguments: dict[str, Json]) -> Json:
        """Return the JSON answer to one wish of a test: ``completion``, ``judge``, ``label`` or ``generate``."""
        match want:
            case "completion":
                position = self._position(str(arguments["nodeid"]))
                return (await self._scheduler.completion(worker, position)).to_json()
            case "judge":
                return (await self._judge_for(arguments)).to_json()
            case "label":
                return (await self._label_for(arguments)).to_json()
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
        """What the calls of the session came to."""
        return self._models.effort

    def discard(self, nodeid: str) -> None:
        """Give up the place of a test that is over."""
        if (position := self._plan.index.get(nodeid)) is not None:
            self._scheduler.discard(position)

    async def close(self, reason: str, *, grace: float = 0.0) -> None:
        """Cancel what runs, raise RunStopped in who waits, and close what is open.

        Replies under way are paid: those that come within `grace` seconds are kept, for whoever
        resumes the run.
        """
        await self._scheduler.stop(RunStopped(reason))
        self._prefilter.close()
        try:
            await self._models.close(grace=grace)
        finally:
            await self._graphs.close()

    def hurry(self) -> None:
        """Have `close` wait for no reply any more."""
        self._models.cancel()

    def _position(self, nodeid: str) -> int:
        position = self._plan.index.get(nodeid)
        if position is None:
            msg = f"{nodeid} was not planned: name `completion` in the test's arguments, not by getfixturevalue"
            raise UsageError(msg)
        return position

    async def _complete(self, position: int, ticket: Ticket) -> Completion:
        test = self._plan.tests[position]
        calls = Calls(self._models, ticket, epoch=test.epoch)
        try:
            completion = await self._solve_in_time(test, calls, ticket)
            return replace(completion, transcript=calls.transcript)
        except LLMEvalError as error:
            calls.note(StageNote(stage="error", text=f"{type(error).__name__}: {error}"))
            raise
        finally:
            self._keep_transcript(test.key, calls.transcript)

    async def _solve_in_time(self, test: PlannedTest, calls: Calls, ticket: Ticket) -> Completion:
        """Solve in the sample's time.

        Its clock starts when its first request goes out: queueing is not its doing.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as deadline:

                def start_clock() -> None:
                    if deadline.when() is None and self._sample_timeout is not None:
                        deadline.reschedule(loop.time() + self._sample_timeout)

                ticket.on_sent = start_clock
                return await self._solve_safely(test, calls)
        except TimeoutError:
            msg = f"sample {test.sample!r}: not done within {self._sample_timeout:g} s (--llmeval-sample-timeout)"
            raise LLMEvalError(msg) from None

    async def _solve_safely(self, test: PlannedTest, calls: Calls) -> Completion:
        """Solve; whatever goes wrong is an LLMEvalError that names solver and sample, and the result can be sent."""
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
        """Run the solver, take the answer out of its text, and ask the judge if the task has one."""
        task, sample = loaded.task, loaded.by_id[test.sample]
        run = SampleRun(
            task=task,
            sample=sample,
            model=self._choice.solver(test),
            calls=calls,
            image_store=self._image_store,
            open_graph=self._graphs.get,
        )
        completion = await self._solver(task)(sample, run)
        if completion.answer is None:
            completion = replace(completion, answer=self._rule(task)(completion.text))
        if task.is_judged and completion.answer is not None:
            case = Case(
                problem=sample.input,
                target=sample.target,
                candidate=completion.answer,
                votes=task.judge.votes,
                prefilter=task.judge.prefilter,
            )
            await judge(case, self._choice.judges(test), calls, self._prefilter)
        return completion

    def _models_for(self, test: PlannedTest) -> set[ModelSpec]:
        """Return the models without which the test's sample cannot be completed."""
        judged = self._catalog.load(Path(test.file)).task.is_judged
        return {
            model.bare
            for model in (self._choice.solver(test), *(self._choice.judges(test) if judged else ()))
        }

    def _is_fatal(self, error: LLMEvalError) -> bool:
        """Tell whether no sample can be completed any more: the run is to end, or every kind of test lost a model."""
        return isinstance(error, RunStopped) or all(
            needs & self._models.lost.keys() for needs in self._needs
        )

    def _solver(self, task: Task) -> Solver:
        key = str(task.file)
        if key not in self._solvers:
            from pytest_llmeval.engine.resolve import resolve_solver  # noqa: PLC0415 - a custom solver imports anything

            self._solvers[key] = resolve_solver(task)
        return self._solvers[key]

    def _rule(self, task: Task) -> Callable[[str], str | None]:
        """Return how the task takes the answer out of a text."""
        key = str(task.file)
        if key not in self._rules:
            from pytest_llmeval.engine.resolve import resolve_answer  # noqa: PLC0415 - as above

            self._rules[key] = resolve_answer(task)
        return self._rules[key]

    async def _judge_for(self, arguments: dict[str, Json]) -> Judgement:
        test, calls = self._on_behalf_of(arguments)
        case = Case(
            problem=str(arguments["problem"]),
            target=str(arguments["target"]),
            candidate=str(arguments["candidate"]),
            votes=cast("int", arguments["votes"]),
            prefilter=test is None or self._catalog.load(Path(test.file)).task.judge.prefilter,
        )
        return await judge(case, self._choice.judges(test), calls, self._prefilter)

    async def _label_for(self, arguments: dict[str, Json]) -> Completion:
        test = self._plan.tests[self._position(str(arguments["nodeid"]))]
        _, calls = self._on_behalf_of(arguments)
        completion = Completion.from_json(cast("dict[str, Json]", arguments["completion"]))
        sample = self._catalog.load(Path(test.file)).by_id[test.sample]
        completion = await labelled(
            completion, sample, next(iter(self._choice.judges(test)), None), calls
        )
        self._keep_transcript(test.key, completion.transcript)
        return completion

    async def _generate_for(self, arguments: dict[str, Json]) -> Reply:
        test, calls = self._on_behalf_of(arguments)
        return await calls.ask(
            self._choice.solver(test),
            tuple(
                Message.from_json(item)
                for item in cast("list[dict[str, Json]]", arguments["messages"])
            ),
            stage="test",
            parameters=cast("dict[str, Json]", arguments["parameters"]),
            draw=cast("int", arguments["draw"]),
        )

    def _on_behalf_of(self, arguments: dict[str, Json]) -> tuple[PlannedTest | None, Calls]:
        """Return the planned test that a body's request comes from, if it is one; a test waits, so it is urgent."""
        position = self._plan.index.get(str(arguments["nodeid"]))
        test = None if position is None else self._plan.tests[position]
        ticket = Ticket(order=position or 0, urgent=True)
        return test, Calls(self._models, ticket, epoch=1 if test is None else test.epoch)
