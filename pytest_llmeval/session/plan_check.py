"""Refuses a plan that cannot be run, before anything is asked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.task.catalog import Catalog


def check_plan(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    """Raise pytest.UsageError for an option that names no task or sample here, a test without model, or one's price."""
    try:
        _check_tasks(plan, settings)
        _check_samples(plan, settings, catalog)
        _check_pictures(plan, settings, catalog)
        spending = Spending(settings)
        for model in _models(plan, settings, catalog):
            spending.budget(model)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def check_models(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    """Raise pytest.UsageError for a model that cannot be asked as things are: no key, no address, no such function.

    A run that may find its answers in a store is let through: it asks for the key when it has
    something to send.
    """
    if settings.resume is not None or settings.cache is not None:
        return
    from pytest_llmeval.providers.provider import check_provider  # noqa: PLC0415 - asyncio, for sessions that ask

    try:
        for model in dict.fromkeys(model.bare for model in _models(plan, settings, catalog)):
            check_provider(model, settings)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _models(plan: Plan, settings: Settings, catalog: Catalog) -> Iterator[ModelSpec]:
    """Yield the models that the plan's tests ask, judges too, some repeatedly; UsageError where there is none."""
    choice = ModelChoice(settings, catalog)
    for test in plan.kinds:
        yield choice.solver(test)
        if settings.taxonomy or catalog.load(Path(test.file)).task.is_judged:
            yield from choice.judges(test)


def _check_tasks(plan: Plan, settings: Settings) -> None:
    tasks = {name for _, name, _ in plan.tasks}
    if unknown := sorted({*settings.datasets, *settings.overrides} - tasks):
        known = ", ".join(sorted(tasks))
        msg = f"--llmeval-dataset or --llmeval-set names task {unknown[0]!r}; tasks collected here: {known}"
        raise UsageError(msg)


def _check_samples(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    if not settings.samples:
        return
    known = {sample for file, _, _ in plan.tasks for sample in catalog.load(Path(file)).by_id}
    if unknown := [sample for sample in settings.samples if sample not in known]:
        msg = f"--llmeval-sample {unknown[0]!r}: no task collected here has a sample with this id"
        raise UsageError(msg)


def _check_pictures(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    choice = ModelChoice(settings, catalog)
    blind = {
        (test.file, test.model) for test in plan.kinds if not choice.solver(test).reads_pictures
    }
    for test in plan.tests if blind else ():
        if (test.file, test.model) in blind and catalog.load(Path(test.file)).by_id[
            test.sample
        ].images:
            msg = (
                f"{test.model} reads no pictures, and sample {test.sample!r} of task {test.task!r} has some: name a "
                f"model that does (vision=on if this one does after all), or leave the task out (-k 'not {test.task}')"
            )
            raise UsageError(msg)


def missing_judge(plan: Plan, settings: Settings, catalog: Catalog) -> str | None:
    """Return a remark if a task is scored by a judge and there is none: only plain answers can then be decided."""
    choice = ModelChoice(settings, catalog)
    for test in plan.kinds:
        if catalog.load(Path(test.file)).task.is_judged and not choice.judges(test):
            return f"task {test.task!r} is scored by a judge and none is configured: pass --llmeval-judge SPEC"
    return None


def check_report_folder(settings: Settings) -> None:
    """Raise pytest.UsageError when run folders cannot be made where the reports are to go."""
    if settings.report is None:
        return
    folder = Path(settings.report)
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        msg = f"--llmeval-report {folder}: {existing} is no folder that can be written to; choose another"
        raise pytest.UsageError(msg)
