"""What is known of a plan's judges before the first request.

A judge that cannot be asked is no error: answers may need none, and can be scored later.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.specs import ModelSpec, parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.opening import check_provider
from pytest_llmeval.scoring.scorer import AskingScorer
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog, LoadedTask


def judges_of(plan: Plan, settings: Settings, catalog: Catalog) -> Iterator[ModelSpec]:
    """Yield the models that the scorers of the plan's tasks may ask."""
    choice = model_choice(settings, catalog)
    for test in plan.kinds:
        for declared in catalog.at(test.file).scorers:
            if isinstance(declared.scorer, AskingScorer):
                yield from choice.of_scorer(declared.scorer, test)


def unusable_judges(plan: Plan, settings: Settings, catalog: Catalog) -> list[str]:
    """Return a remark for each judge that cannot be asked: without key, address or function.

    A run that may find all replies in a store is not checked; it may need no key.
    """
    if settings.resume is not None or settings.reuse is not None:
        return []
    remarks = []
    for judge in dict.fromkeys(judge.bare for judge in judges_of(plan, settings, catalog)):
        try:
            check_provider(judge, folder=Path(settings.folder))
        except UsageError as error:
            remarks.append(
                f"judge {judge.label} cannot be asked, so answers that need it stay without a "
                f"score: {error}"
            )
    return remarks


def check_specs(loaded: LoadedTask, folder: Path) -> None:
    """Raise TaskError for a judge that a task names by no valid spec."""
    for declared in loaded.scorers:
        for text in getattr(declared.scorer, "models", ()):
            try:
                parse_spec(text, folder=folder)
            except UsageError as error:
                raise loaded.task.error(str(error), "scorer") from None
