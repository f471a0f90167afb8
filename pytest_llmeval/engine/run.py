"""A run inside the event loop: it answers the wishes that tests send in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pytest_llmeval.answers import RULES
from pytest_llmeval.catalog import Catalog, LoadedTask
from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.graphs import Graphs
from pytest_llmeval.engine.judging import judge
from pytest_llmeval.engine.limits import Ticket
from pytest_llmeval.engine.models import Gauge, Models
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.ports import Graph, ImageStore
from pytest_llmeval.engine.sample_run import SampleRun
from pytest_llmeval.engine.scheduler import Scheduler
from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.judge.judgement import Judgement
from pytest_llmeval.records import Completion, Json, Message, Reply, RowKey, StageNote, Transcript

if TYPE_CHECKING:
    from pytest_llmeval.solvers.context import Solver
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
    ) -> None:
        """Run `plan` with look-ahead `window`. UsageError when its data are not what this process reads."""
        for file, digest in plan.tasks:
            if catalog.load(Path(file)).digest != digest:
                msg = f"{file}: the dataset changed during the run, or the workers read another one; run again"
                raise UsageError(msg)
        self._plan, self._catalog, self._models, self._graphs = plan, catalog, models, graphs
        self._choice, self._image_store, self._keep_transcript = choice, image_store, keep_transcript
        self._scheduler = Scheduler(len(plan.tests), self._complete, window=window)
        self._solvers: dict[str, Solver] = {}
        self._rules: dict[str, Callable[[str], str | None]] = {}

    async def answer(self, worker: str, want: str, arguments: dict[str, Json]) -> Json:
        """Return the JSON answer to one wish of a test: ``completion``, ``judge`` or ``generate``."""
        match want:
            case "completion":
                position = self._plan.index[str(arguments["nodeid"])]
                return (await self._scheduler.completion(worker, position)).to_json()
            case "judge":
                return (await self._judge_for(arguments)).to_json()
            case "generate":
                return (await self._generate_for(arguments)).to_json()
            case _:
                msg = f"the engine knows no wish {want!r}"
                raise UsageError(msg)

    @property
    def gauge(self) -> Gauge:
        """How the calls stand. May be read from any thread."""
        return self._models.gauge

    def discard(self, nodeid: str) -> None:
        """Give up the place of a test that is over."""
        if (position := self._plan.index.get(nodeid)) is not None:
            self._scheduler.discard(position)

    async def close(self, reason: LLMEvalError) -> None:
        """Cancel what runs, raise `reason` in who waits, and close what is open."""
        await self._scheduler.stop(reason)
        await self._models.close()
        await self._graphs.close()

    async def _complete(self, position: int, ticket: Ticket) -> Completion:
        test = self._plan.tests[position]
        calls = Calls(self._models, ticket, epoch=test.epoch)
        try:
            completion = await self._solve(self._catalog.load(Path(test.file)), test, calls)
            return replace(completion, transcript=calls.transcript)
        except LLMEvalError as error:
            calls.note(StageNote(stage="error", text=f"{type(error).__name__}: {error}"))
            raise
        finally:
            self._keep_transcript(test.key, calls.transcript)

    async def _solve(self, loaded: LoadedTask, test: PlannedTest, calls: Calls) -> Completion:
        """Run the solver, take the answer out of its text, and ask the judge if the task has one."""
        task, sample = loaded.task, loaded.by_id[test.sample]
        run = SampleRun(
            task=task,
            sample=sample,
            model=self._choice.solver(test),
            calls=calls,
            image_store=self._image_store,
            open_graph=lambda: self._open_graph(task),
        )
        completion = await self._solver(task)(sample, run)
        if completion.answer is None:
            completion = replace(completion, answer=self._rule(task)(completion.text))
        if task.scorer is not None and task.scorer.kind == "judge" and completion.answer is not None:
            await self._judge(
                calls,
                test,
                problem=sample.input,
                target=sample.target,
                candidate=completion.answer,
                votes=task.judge.votes,
            )
        return completion

    def _solver(self, task: Task) -> Solver:
        key = str(task.file)
        if key not in self._solvers:
            from pytest_llmeval.solvers.resolve import resolve_solver  # noqa: PLC0415 - a custom solver imports anything

            self._solvers[key] = resolve_solver(task)
        return self._solvers[key]

    def _rule(self, task: Task) -> Callable[[str], str | None]:
        """Return how the task takes the answer out of a text."""
        key = str(task.file)
        if key not in self._rules:
            from pytest_llmeval.callables import load_callable  # noqa: PLC0415 - runs a task's own file

            own = ":" in task.answer
            self._rules[key] = load_callable(task.answer, task.folder, confined=True) if own else RULES[task.answer]
        return self._rules[key]

    async def _open_graph(self, task: Task) -> Graph:
        if task.graph is None:
            msg = "its solver queries a graph, but the task names none; add `graph: {scene: FILE}`"
            raise TaskError(msg, file=task.file, key="graph")
        return await self._graphs.get(task.graph.scene)

    async def _judge(  # noqa: PLR0913 - a case has that many parts
        self, calls: Calls, test: PlannedTest | None, *, problem: str, target: str, candidate: str, votes: int
    ) -> Judgement:
        model = self._choice.judge(test)
        if model is None:
            reason = "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"
            return Judgement(verdict=None, explanation=reason)
        return await judge(
            lambda messages, draw: calls.ask_judge(model, messages, draw),
            name=model.label,
            problem=problem,
            target=target,
            candidate=candidate,
            votes=votes,
        )

    async def _judge_for(self, arguments: dict[str, Json]) -> Judgement:
        test, calls = self._on_behalf_of(arguments)
        return await self._judge(
            calls,
            test,
            problem=str(arguments["problem"]),
            target=str(arguments["target"]),
            candidate=str(arguments["candidate"]),
            votes=cast("int", arguments["votes"]),
        )

    async def _generate_for(self, arguments: dict[str, Json]) -> Reply:
        test, calls = self._on_behalf_of(arguments)
        return await calls.ask(
            self._choice.solver(test),
            tuple(Message.from_json(item) for item in cast("list[dict[str, Json]]", arguments["messages"])),
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
