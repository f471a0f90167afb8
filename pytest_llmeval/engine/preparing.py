"""Runs the scorers' `prepare`, such as a judge's calls or a program, in the engine."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.judge_names import judge_names
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.preparation import Preparation
from pytest_llmeval.engine.sample_run import Surroundings, WholeRun
from pytest_llmeval.engine.scoring_run import ScoringRun
from pytest_llmeval.errors import LLMEvalError, ScorerError, UsageError
from pytest_llmeval.records import Completion, Json, Sample
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.scoring.scorer import (
    AskingScorer,
    PreparingScorer,
    RunCheckingScorer,
    role_of,
)
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.spec import Spec


class Preparing:
    """Prepares the scores of answers, before a test or at a test body's request."""

    def __init__(self, catalog: Catalog, choice: ModelChoice, around: Surroundings) -> None:
        """Find scorers in `catalog` and their models by `choice`; they may use `around`."""
        self._catalog, self._choice, self._around = catalog, choice, around

    async def check(self, test: PlannedTest) -> None:
        """Raise an error if a scorer of the test's task can score nothing in this run.

        Raises:
            LLMEvalError: what is missing, and the fix.
        """
        for one in self._catalog.at(test.file).scorers:
            if isinstance(one.scorer, RunCheckingScorer):
                await one.scorer.check_run(WholeRun(self._around))

    def begin(self, test: PlannedTest) -> Preparation:
        """Return the preparation of the scorers of a test's task, of which none is prepared yet."""
        scorers = [
            one.scorer
            for one in self._catalog.at(test.file).scorers
            if isinstance(one.scorer, PreparingScorer)
        ]
        ahead = [scorer for scorer in scorers if not scorer.only_incorrect]
        judges: dict[str, tuple[str, ...]] = {}
        for scorer in scorers:
            if isinstance(scorer, AskingScorer):
                with suppress(LLMEvalError):  # raised again where the scorer is prepared
                    judges[scorer.name] = judge_names(self._choice, test, scorer)
        return Preparation(ahead, judges)

    async def ahead(
        self, preparation: Preparation, test: PlannedTest, completion: Completion, calls: Calls
    ) -> None:
        """Prepare the scorers of a test's task for its answer; one that fails stops no other."""
        sample = self._catalog.at(test.file).by_id[test.sample]
        for scorer in preparation.open if completion.answer is not None else ():
            try:
                prepared = await self._prepare(test, scorer, sample, completion, calls)
            except LLMEvalError as error:
                preparation.failed(scorer, error)
            else:
                preparation.done(scorer, prepared)

    async def requested(
        self, test: PlannedTest | None, wish: dict[str, Json], calls: Calls
    ) -> Json:
        """Return what a scorer prepares for an answer, as a test body requests it.

        Args:
            test: the planned test; None if the body belongs to another test.
            wish: ``scorer`` (name and options), ``sample`` and ``completion`` as JSON.
            calls: the calls for this test.

        Raises:
            LLMEvalError: the preparation failed.
            UsageError: the wish names no scorer that prepares anything.
        """
        sample = Sample.from_json(wish["sample"])
        completion = Completion.from_json(wish["completion"])
        return await self._prepare(test, self._scorer(test, wish), sample, completion, calls)

    def judges(self, test: PlannedTest | None, wish: dict[str, Json]) -> tuple[str, ...]:
        """Return the names of the models that the scorer of a wish may ask; () if it asks none.

        Raises:
            UsageError: the wish names no scorer with `prepare`, or a spec is invalid.
        """
        scorer = self._scorer(test, wish)
        return judge_names(self._choice, test, scorer) if isinstance(scorer, AskingScorer) else ()

    def _scorer(self, test: PlannedTest | None, wish: dict[str, Json]) -> PreparingScorer:
        """Return the scorer that a wish names: one of the test's task, or a new one."""
        name, options = cast("tuple[str, dict[str, Json]]", wish["scorer"])
        declared = () if test is None else self._catalog.at(test.file).scorers
        for one in declared:
            if one.scorer.name == name and isinstance(one.scorer, PreparingScorer) and not options:
                return one.scorer
        try:
            made = make_scorer(Spec(name=name, options=options), Path.cwd())
        except MisfitError as error:
            raise UsageError(error.problem) from None
        if not isinstance(made, PreparingScorer):
            msg = f"scorer {name!r} has no method `prepare`; score its answers without the engine"
            raise UsageError(msg)
        return made

    async def _prepare(
        self,
        test: PlannedTest | None,
        scorer: PreparingScorer,
        sample: Sample,
        completion: Completion,
        calls: Calls,
    ) -> Json:
        """Return what a scorer prepares; any failure is an LLMEvalError that names the scorer."""
        place = f"scorer {scorer.name}, sample {sample.id!r}"
        load_images = partial(self._around.images, sample)
        try:
            context = ScoringRun(
                self._choice.of_scorer(scorer, test) if isinstance(scorer, AskingScorer) else (),
                calls,
                self._around.resources,
                load_images,
                scorer=scorer.name,
                role=role_of(scorer),
                settings=self._around.settings,
            )
            prepared = await scorer.prepare(sample, completion, context)
            return plain_json(prepared, f"sample {sample.id!r}, scorer {scorer.name!r}")
        except LLMEvalError:
            raise
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            msg = f"{place}: it cancelled its own asyncio task"
            raise ScorerError(msg) from error
        except BaseException as error:
            msg = f"{place}: {described_with_place(error)}"
            raise ScorerError(msg) from error
