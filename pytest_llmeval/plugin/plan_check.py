"""Refuses a plan that cannot be run, before anything is asked."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

import pytest

from pytest_llmeval.catalog import Catalog
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import UsageError
from pytest_llmeval.plugin.spending import Spending
from pytest_llmeval.settings import Settings


def check_plan(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    """Raise pytest.UsageError for an option that names no task or sample here, a test without model, or one's price."""
    try:
        _check_tasks(plan, settings)
        _check_samples(plan, settings, catalog)
        choice, spending = ModelChoice(settings, catalog), Spending(settings)
        for _, tests in groupby(plan.tests, lambda test: (test.file, test.model)):
            test = next(tests)
            spending.budget(choice.solver(test))
            scorer = catalog.load(Path(test.file)).task.scorer
            judged = settings.taxonomy or (scorer is not None and scorer.kind == "judge")
            for judge in choice.judges(test) if judged else ():
                spending.budget(judge)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


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


def missing_judge(plan: Plan, settings: Settings, catalog: Catalog) -> str | None:
    """Return a remark if a task is scored by a judge and there is none: only plain answers can then be decided."""
    choice = ModelChoice(settings, catalog)
    for _, tests in groupby(plan.tests, lambda test: (test.file, test.model)):
        test = next(tests)
        scorer = catalog.load(Path(test.file)).task.scorer
        if scorer is not None and scorer.kind == "judge" and not choice.judges(test):
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
