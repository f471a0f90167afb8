"""The choice of models by a session's settings."""

from __future__ import annotations

from pathlib import Path

from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog


def model_choice(settings: Settings, catalog: Catalog) -> ModelChoice:
    """Return the choice among the session's models and judges, and those of the tasks."""
    return ModelChoice(
        catalog,
        models=settings.models,
        judges=settings.judges,
        seed=settings.seed,
        folder=Path(settings.folder),
    )
