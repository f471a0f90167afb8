"""Runs the scorers' `prepare`, such as a judge's calls, in the engine."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import cast

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.judge_names import judge_names
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.sample_run import Surroundings
from pytest_llmeval.engine.scoring_run import ScoringRun
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.errors import LLMEvalError, ModelLost, ProviderError, ScorerError, UsageError
from pytest_llmeval.records import Completion, Json, Sample
from pytest_llmeval.records.error_json import error_to_json
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.safety.printable import described
from pytest_llmeval.scoring.scorer import PreparingScorer, role_of
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.spec import Spec


class Preparing:
    """Prepares the scores of answers, before a test or at a test body's request."""

    def __init__(self, catalog: Catalog, choice: ModelChoice, around: Surroundings) -> None:
        """Find scorers in `catalog` and their models by `choice`; they may use `around`."""
        self._catalog, self._choice, self._around = catalog, choice, around

    async def ahead(self, test: PlannedTest, completion: Completion, calls: Calls) -> Solved:
        """Return a completion with what the task's scorers prepare for its answer.

        A provider's failure that does not end the model for good is stored beside the completion,
        which stays usable.

        Raises:
            LLMEvalError: any other failure.
        """
        loaded = self._catalog.load(Path(test.file))
        prepared: dict[str, Json] = {}
        failed: dict[str, Json] = {}
        scorers = [one.prepares for one in loaded.scorers] if completion.answer is not None else []
        for scorer in filter(None, scorers):
            sample = loaded.by_id[test.sample]
            try:
                prepared[scorer.name] = await self._prepare(test, scorer, sample, completion, calls)
            except (ProviderError, ModelLost) as error:
                if isinstance(error, ProviderError) and error.reach == "model":
                    raise
                failed[scorer.name] = error_to_json(error)
        judges = {
            one.scorer.name: judge_names(self._choice, test, one.scorer)
            for one in loaded.scorers
            if isinstance(one.scorer, PreparingScorer)
        }
        return Solved(completion=completion, prepared=prepared, failed=failed, judges=judges)

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
        """Return the names of the models that the scorer of a wish may ask.

        Raises:
            UsageError: the wish names no scorer that asks any, or a spec is invalid.
        """
        return judge_names(self._choice, test, self._scorer(test, wish))

    def _scorer(self, test: PlannedTest | None, wish: dict[str, Json]) -> PreparingScorer:
        """Return the scorer that a wish names: one of the test's task, or a new one."""
        name, options = cast("tuple[str, dict[str, Json]]", wish["scorer"])
        declared = () if test is None else self._catalog.load(Path(test.file)).scorers
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
        context = ScoringRun(
            self._choice.of_scorer(scorer, test),
            calls,
            self._around.resources,
            partial(self._around.images, sample),
            scorer=scorer.name,
            role=role_of(scorer),
        )
        try:
            prepared = await scorer.prepare(sample, completion, context)
            return plain_json(prepared, f"sample {sample.id!r}, scorer {scorer.name!r}")
        except (LLMEvalError, asyncio.CancelledError):
            raise
        except BaseException as error:
            msg = f"scorer {scorer.name}, sample {sample.id!r}: {described(error)}"
            raise ScorerError(msg) from error
