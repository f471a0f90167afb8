"""The choice of the model under test and of the judges."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.specs import (
    ModelSpec,
    parse_spec,
    parse_specs,
    replay_spec,
    share_limits,
)
from pytest_llmeval.errors import UsageError
from pytest_llmeval.task import Task
from pytest_llmeval.task.catalog import Catalog


class ModelChoice:
    """Chooses models by the session's options, then by the task, then by the environment."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        models: Sequence[str],
        judges: Sequence[str],
        seed: int | None,
        folder: Path,
    ) -> None:
        """Parse the session's specs.

        Args:
            catalog: the tasks.
            models: specs of the models under test, as typed.
            judges: specs of the judges, as typed.
            seed: seed of all requests; None sends none.
            folder: where relative paths in specs start.

        Raises:
            UsageError: a spec is invalid, or two specs of one model have different limits.
        """
        self._catalog, self._seed, self._folder = catalog, seed, folder
        specs = [*parse_specs(models, folder=folder)]
        specs += [parse_spec(text, folder=folder) for text in dict.fromkeys(judges)]
        named = [replace(spec, seed=seed) for spec in share_limits(specs)]
        self._models = named[: len(models)]
        self._judges = tuple(dict.fromkeys(named[len(models) :]))
        # Parsed once: thousands of tests have the same model.
        self._specs = {spec.label: spec for spec in self._models}

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """The session's models under test."""
        return tuple(self._models)

    def solver(self, test: PlannedTest | None) -> ModelSpec:
        """Return the model under test.

        Args:
            test: a planned test, whose model is returned; with no model configured it is the
                recording of its task. None stands for a test without a sample, whose model is the
                session's first.

        Raises:
            UsageError: there is no model.
        """
        if test is not None:
            return self._planned(test)
        if not self._models:
            msg = "no model is configured: pass --llmeval-model SPEC, such as openai/gpt-5.1"
            raise UsageError(msg)
        return self._models[0]

    def judges(self, test: PlannedTest | None, named: Sequence[str] = ()) -> tuple[ModelSpec, ...]:
        """Return the judges, each once, by the first rule that applies; () when none does.

        1. The judges that the session names.
        2. For a test on a recording: the same recording. A recorded judge thus never judges the
           answers of a live model.
        3. The judges `named` by the scorer.
        4. The Azure deployment in the variable JUDGE_DEPLOYMENT, if AZURE_OPENAI_ENDPOINT is set.
        """
        if self._judges:
            return self._judges
        if test is not None and (solver := self._planned(test)).recorded:
            return (solver,)
        if named:
            return tuple(dict.fromkeys(map(self._parsed, named)))
        deployment = os.environ.get("JUDGE_DEPLOYMENT")
        if deployment and os.environ.get("AZURE_OPENAI_ENDPOINT"):
            return (self._parsed(f"azure/{deployment}"),)
        return ()

    def needed(self, test: PlannedTest) -> tuple[ModelSpec, ...]:
        """Return the models that a test's sample needs to be completed and scored."""
        return tuple(dict.fromkeys((self._planned(test), *self.scoring(test))))

    def scoring(self, test: PlannedTest) -> tuple[ModelSpec, ...]:
        """Return the models that the scorers of the test's task ask about every answer."""
        scorers = self._catalog.load(Path(test.file)).scorers
        judges = (
            judge
            for declared in scorers
            if (scorer := declared.asks) is not None
            for judge in self.judges(test, scorer.models)
        )
        return tuple(dict.fromkeys(judges))

    def _parsed(self, text: str) -> ModelSpec:
        if text not in self._specs:
            spec = parse_spec(text, folder=self._folder)
            self._specs[text] = replace(spec, seed=self._seed)
        return self._specs[text]

    def _planned(self, test: PlannedTest) -> ModelSpec:
        """Return the model of a planned test, or the recording of its task."""
        if test.model:
            return self._parsed(test.model)
        task = self._catalog.load(Path(test.file)).task
        if task.replay is None:
            raise UsageError(no_model(task))
        return replace(replay_spec(task.replay), seed=self._seed)


def no_model(task: Task) -> str:
    """Return the message for a task without model and recording."""
    return (
        f"task {task.name!r} has no recorded replies, and no model is configured: "
        "pass --llmeval-model SPEC"
    )
