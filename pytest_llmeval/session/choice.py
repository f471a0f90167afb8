"""The `ModelChoice` of a session's settings."""

from __future__ import annotations

from pathlib import Path

from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog


def model_choice(settings: Settings, catalog: Catalog) -> ModelChoice:
    """Return the choice among the models of the session and of the tasks.

    Raises:
        UsageError: a spec is invalid.
    """
    return ModelChoice(
        catalog,
        models=settings.models,
        roles=settings.by_role,
        seed=settings.seed,
        folder=Path(settings.folder),
    )
