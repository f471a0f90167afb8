"""A run inside the event loop: it answers the wishes of tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, cast

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice, RoleError
from pytest_llmeval.engine.completing import Completing, KeepTranscript
from pytest_llmeval.engine.models import Gauge, Models
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.preparing import Preparing
from pytest_llmeval.engine.readiness import Readiness
from pytest_llmeval.engine.sample_run import Surroundings
from pytest_llmeval.engine.scheduler import Scheduler
from pytest_llmeval.engine.solved import Answer, Solved
from pytest_llmeval.engine.solving import Solving
from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.engine.stops import Stops
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, RunStopped, UsageError
from pytest_llmeval.records import (
    Completion,
    Json,
    Message,
    Reply,
    Role,
    RowKey,
    Transcript,
)
from pytest_llmeval.records.error_json import error_to_json
from pytest_llmeval.task.catalog import Catalog

_NO_MISTAKES: Final[Mapping[str, LLMEvalError]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The limits of a run's samples.

    Attributes:
        window: samples that are started and not yet handed over, at most.
        sample_timeout: seconds that one sample may take from its first request; None is no limit.
    """

    window: int
    sample_timeout: float | None = None


class Run:
    """Completes the plan's samples and serves requests of test bodies, in one event loop."""

    def __init__(  # noqa: PLR0913 - the collaborators of the composition root
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
        mistakes: Mapping[str, LLMEvalError] = _NO_MISTAKES,
    ) -> None:
        """Set up the run of `plan`; no request is made before the first wish.

        Args:
            plan: the selected tests.
            catalog: the tasks.
            models: replies to requests.
            choice: the models of each test.
            around: what all samples share.
            pace: limits on samples.
            keep_transcript: stores transcripts.
            completions: the stored completions that are scored again, one for each test; None if
                the tasks' solvers make them.
            mistakes: by task file, the mistakes because of which no sample of the task is asked.

        Raises:
            UsageError: a dataset differs from the plan's, or a test has no model.
        """
        for file, _, digest in plan.tasks:
            if catalog.at(file).digest != digest:
                msg = (
                    f"{file}: the dataset changed during the run, or the workers read another one; "
                    "run again"
                )
                raise UsageError(msg)
        self._plan, self._models, self._choice = plan, models, choice
        self._around = around
        self._solving = Solving(catalog, choice, around, completions)
        self._preparing = Preparing(catalog, choice, around)
        self._scheduler = Scheduler(
            len(plan.tests), self._complete, window=pace.window, fatal=self._is_fatal
        )
        self._completing = Completing(
            models=models,
            choice=choice,
            solving=self._solving,
            preparing=self._preparing,
            keep_transcript=keep_transcript,
            sample_timeout=pace.sample_timeout,
            ended=lambda: self._scheduler.ended,
        )
        self._stops = Stops(mistakes)
        self._readiness: Readiness | None = None
        self._scheduler.drop(
            position for position, test in enumerate(plan.tests) if self._stops.concerns(test)
        )
        sound = (test for test in plan.kinds if not self._stops.concerns(test))
        self._solvers = frozenset(
            choice.solver(test).bare for test in (sound if completions is None else ())
        )

    async def answer(self, worker: str, want: str, arguments: dict[str, Json]) -> Answer:
        """Return the answer to one wish of a test: JSON, or a record that has a JSON form.

        Args:
            worker: name of the xdist worker, "" without xdist.
            want: ``completion`` returns a `Solved`; ``early`` the same before the test's turn, once
                the look-ahead has it; ``failed`` the transcript of the test's completion, if that
                failed; ``prepare`` what a scorer prepares for an answer, or its
                error, with the transcript of its calls; ``transcript`` stores the transcript of the
                test's completion; ``judges`` returns the names of the models that a scorer may ask;
                ``generate`` a `Reply`.
            arguments: ``nodeid`` of the test, and the wish's own; ``early``, if true, for a body
                whose turn has not come, so that what tests wait for goes first.

        Raises:
            LLMEvalError: the wish failed.
        """
        match want:
            case "completion":
                position = self._position(str(arguments["nodeid"]))
                self._get_ready()
                return await self._completed(worker, position)
            case "early":
                position = self._position(str(arguments["nodeid"]))
                return await self._scheduler.ahead_of_test(position)
            case "failed" | "transcript":
                return self._transcript(want, arguments)
            case "prepare":
                return await self._prepare_for(arguments)
            case "judges":
                test, _ = self._on_behalf_of(arguments)
                return list(self._preparing.judges(test, arguments))
            case "generate":
                return (await self._generate_for(arguments)).to_json()
            case _:
                known = "completion, early, failed, prepare, transcript, judges or generate"
                msg = f"unknown wish {want!r}; expected {known}"
                raise UsageError(msg)

    @property
    def gauge(self) -> Gauge:
        """The requests in flight and the usage so far; may be read from any thread."""
        return self._models.gauge

    @property
    def effort(self) -> Effort:
        """The statistics of all calls of the session."""
        return self._models.effort

    def take(self, nodeid: str) -> Solved | None:
        """Return the solved sample of a test if it waits for the test; from any thread.

        Where a sample is returned, the caller lets the event loop call `taken`. A sample that is
        not there yet, or failed, or is refused, is asked for by `answer`.
        """
        position = self._plan.index.get(nodeid)
        if position is None or self._stops.concerns(self._plan.tests[position]):
            return None
        return self._scheduler.take(position)

    def taken(self, worker: str, nodeid: str) -> None:
        """Note that a worker took a test's sample, so that the next ones are started."""
        self._scheduler.taken(worker, self._plan.index[nodeid])

    def was_asked(self, nodeid: str) -> bool:
        """Return whether a test has asked for its sample, so that `discard` has no effect."""
        position = self._plan.index.get(nodeid)
        return position is not None and self._scheduler.was_asked(position)

    def discard(self, nodeid: str) -> None:
        """Note that a test has ended, so that its sample is not solved any more."""
        if (position := self._plan.index.get(nodeid)) is not None:
            self._scheduler.discard(position)

    def end_test(self, test: str, reason: str) -> None:
        """Complete no further sample for a test function; its tests get TaskStopped.

        Args:
            test: its name, as in `PlannedTest.test`.
            reason: the message.
        """
        self._stops.end(test, reason)
        self._scheduler.drop(
            position for position, one in enumerate(self._plan.tests) if one.test == test
        )

    def end(self, reason: str) -> None:
        """Cancel all solvers and send nothing more; waiting and later wishes get RunStopped."""
        self._scheduler.halt(RunStopped(reason))
        self._models.end(reason)

    async def close(self, reason: str, *, grace: float = 0.0) -> None:
        """Cancel all solvers, raise RunStopped in waiting tests, and close all resources.

        Args:
            reason: message of the RunStopped.
            grace: seconds at most to wait for replies in flight, which are paid; they are stored,
                and a resumed run uses them.
        """
        await self._scheduler.stop(RunStopped(reason))
        if self._readiness is not None:
            await self._readiness.close()
        try:
            await self._models.close(grace=grace)
        finally:
            await self._around.resources.close()

    def hurry(self) -> None:
        """Cancel the requests in flight, so that `close` no longer waits for them."""
        self._models.cancel()

    def _get_ready(self) -> None:
        """Get the solvers of all planned tasks ready, at the first sample that a test wants."""
        if self._readiness is None:
            self._readiness = Readiness(self._around)
            files = [test.file for test in self._plan.kinds if not self._stops.concerns(test)]
            self._readiness.begin(self._solving.ready_solvers(dict.fromkeys(files)))

    def _position(self, nodeid: str) -> int:
        position = self._plan.index.get(nodeid)
        if position is None:
            msg = (
                f"{nodeid} was not planned: name `completion` in the test's arguments, "
                "not by getfixturevalue"
            )
            raise UsageError(msg)
        return position

    async def _completed(self, worker: str, position: int) -> Solved:
        """Return the solved sample at a position of the plan.

        Raises:
            RoleError: its solver asked for a role without a model; for the first such sample of a
                task.
            LLMEvalError: its solver failed, or its task was stopped, for instance by a RoleError.
        """
        test = self._plan.tests[position]
        self._stops.check(test)
        try:
            return await self._scheduler.completion(worker, position)
        except RoleError:
            self._stops.check(test)
            raise

    async def _complete(self, position: int, ticket: Ticket) -> Solved:
        """Return the solved sample at a position of the plan."""
        test = self._plan.tests[position]
        try:
            return await self._completing.solved(test, ticket)
        except RoleError as mistake:
            self._end_task(test.file, mistake)
            raise

    def _end_task(self, file: str, mistake: RoleError) -> None:
        """Complete no further sample of a task, whose solver asks a role without a model."""
        self._stops.mistake(file, mistake)
        self._scheduler.drop(
            position for position, test in enumerate(self._plan.tests) if test.file == file
        )

    def _is_fatal(self, error: LLMEvalError) -> bool:
        """Return whether no sample can be solved any more: the model of each kind of test is lost.

        Without a judge samples are solved all the same, and stored answers are scored.
        """
        if isinstance(error, RunStopped):
            return True
        return bool(self._solvers) and self._solvers <= self._models.lost.keys()

    def _transcript(self, want: str, arguments: dict[str, Json]) -> Json:
        """Return the transcript of a failed completion, or store the one that a test sends."""
        test, _ = self._on_behalf_of(arguments)
        if want == "failed":
            failed = Transcript() if test is None else self._completing.failed(test.key)
            return failed.to_json()
        if test is not None:
            self._completing.keep(test.key, Transcript.from_json(arguments["transcript"]))
        return None

    async def _prepare_for(self, arguments: dict[str, Json]) -> Json:
        """Return what a scorer prepares for a test body, or its error, and the calls made."""
        test, calls = self._on_behalf_of(arguments)
        prepared, failed = None, None
        try:
            prepared = await self._preparing.requested(test, arguments, calls)
        except LLMEvalError as error:
            failed = error_to_json(error)
        finally:
            if test is not None and calls.transcript.events:
                earlier = Completion.from_json(arguments["completion"]).transcript
                events = (*earlier.events, *calls.transcript.events)
                self._completing.keep(test.key, Transcript(events=events))
        made = calls.transcript.to_json()
        return {"prepared": prepared, "failed": failed, "transcript": made}

    async def _generate_for(self, arguments: dict[str, Json]) -> Reply:
        test, calls = self._on_behalf_of(arguments)
        role = cast("Role", arguments["role"])
        return await calls.ask(
            self._choice.of_solver(role, test),
            tuple(map(Message.from_json, cast("list[Json]", arguments["messages"]))),
            stage="test",
            parameters=cast("dict[str, Json]", arguments["parameters"]),
            draw=cast("int", arguments["draw"]),
            role=role,
        )

    def _on_behalf_of(self, arguments: dict[str, Json]) -> tuple[PlannedTest | None, Calls]:
        """Return the planned test that a body's request comes from, or None, and its calls.

        The calls are urgent if the test waits for them, and not if its body began ahead. They do
        not go into batches: the body waits for each of them in turn.
        """
        position = self._plan.index.get(str(arguments["nodeid"]))
        test = None if position is None else self._plan.tests[position]
        urgent = not arguments.get("early", False)
        ticket = Ticket(order=position or 0, urgent=urgent, online=True)
        return test, Calls(self._models, ticket, epoch=1 if test is None else test.epoch)
