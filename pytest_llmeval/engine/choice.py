"""Which model answers: the one a test was made for, and the judges that go with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.specs import ModelSpec, parse_spec, replay_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog


class ModelChoice:
    """Chooses models by the run's settings."""

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        """Choose by `settings`; a task's own recording comes from `catalog`."""
        self._settings, self._catalog = settings, catalog
        self._specs: dict[str, ModelSpec] = {}

    def solver(self, test: PlannedTest | None) -> ModelSpec:
        """Return the model that a test was made for, or the run's first model for a test without a task.

        With no model configured, a task's own recorded replies; UsageError when there are none
        either.
        """
        if test is not None:
            return self._planned(test)
        if not self._settings.models:
            msg = "no model is configured: pass --llmeval-model SPEC, such as openai/gpt-5.1"
            raise UsageError(msg)
        return self._parsed(self._settings.models[0])

    def judges(self, test: PlannedTest | None) -> tuple[ModelSpec, ...]:
        """Return the judges, each once: the configured ones, or for recorded replies the recording they came from.

        Then those that the task names, then the one of Azure's variables; () when there is none. A
        recorded judge never serves a live model's answers.
        """
        if self._settings.judges:
            return self._all_parsed(self._settings.judges)
        if test is not None:
            if (solver := self._planned(test)).recorded:
                return (solver,)
            if named := self._catalog.load(Path(test.file)).task.judge.models:
                return self._all_parsed(named)
        deployment = os.environ.get("JUDGE_DEPLOYMENT")
        if deployment and os.environ.get("AZURE_OPENAI_ENDPOINT"):
            return (self._parsed(f"azure/{deployment}"),)
        return ()

    def _all_parsed(self, texts: Sequence[str]) -> tuple[ModelSpec, ...]:
        return tuple(dict.fromkeys(map(self._parsed, texts)))

    def _parsed(self, text: str) -> ModelSpec:
        """Return what a spec says, with the run's seed; thousands of tests have the same spec."""
        if text not in self._specs:
            spec = parse_spec(text, folder=Path(self._settings.folder))
            self._specs[text] = replace(spec, seed=self._settings.seed)
        return self._specs[text]

    def _planned(self, test: PlannedTest) -> ModelSpec:
        if test.model:
            return self._parsed(test.model)
        task = self._catalog.load(Path(test.file)).task
        if task.replay is None:
            msg = f"task {task.name!r} has no recorded replies and no model is configured: pass --llmeval-model SPEC"
            raise UsageError(msg)
        if not task.replay.is_file():
            msg = f"task {task.name!r}: its recorded replies are not there ({task.replay}): pass --llmeval-model SPEC"
            raise UsageError(msg)
        return replace(replay_spec(task.replay), seed=self._settings.seed)
