"""Parametrization of test functions: one test for each sample, model and epoch of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.skipping import evaluate_skip_marks

from pytest_llmeval.engine.choice import no_model
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.errors import LLMEvalError, UsageError
from pytest_llmeval.plugin.fixture_names import PARAMETERS
from pytest_llmeval.plugin.named import is_named
from pytest_llmeval.plugin.own_fixtures import foreign_fixture
from pytest_llmeval.plugin.parameters import (
    Mistake,
    Parameters,
    mistake_of,
    parameters_of,
    waits,
)
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task import Task
from pytest_llmeval.task.address import parse_address
from pytest_llmeval.task.catalog import Catalog, LoadedTask
from pytest_llmeval.task.slugs import id_slugs, slug


def parametrize(
    metafunc: pytest.Metafunc, settings: Settings, catalog: Catalog, models: Sequence[str]
) -> None:
    """Parametrize a marked test function.

    Args:
        metafunc: the test function.
        settings: the session's settings.
        catalog: the tasks.
        models: labels of the models under test; () for the tasks' recordings.

    A function whose task is invalid gets one test, which reports the mistake, so that all other
    tests run.

    Raises:
        pytest.Collector.CollectError: the same mistake, if tests are only listed.
    """
    definition = metafunc.definition
    marker = definition.get_closest_marker("llmeval")
    if marker is None or PARAMETERS not in metafunc.fixturenames:
        return
    try:
        if (problem := foreign_fixture(definition)) is not None:
            raise UsageError(problem)
        file = _task_file(marker, definition.path)
        found = [
            one
            for address in catalog.addresses(file)
            for one in _parameters(catalog.load(address), address, settings, models or ("",))
        ]
    except LLMEvalError as error:
        if metafunc.config.option.collectonly:
            raise pytest.Collector.CollectError(str(error)) from None
        metafunc.parametrize(PARAMETERS, [Mistake(str(error))], ids=["mistake"], indirect=True)
        return
    metafunc.parametrize(PARAMETERS, found, ids=[one.id for one in found], indirect=True)


def plan_of(items: Sequence[pytest.Item], catalog: Catalog) -> Plan:
    """Return the plan: the items that wait for the engine and are not skipped, and all tasks."""
    tests = tuple(
        planned(item, catalog)
        for item in items
        if waits(item) and mistake_of(item) is None and not is_skipped(item)
    )
    tasks = sorted(
        (str(file), loaded.task.name, loaded.digest) for file, loaded in catalog.loaded.items()
    )
    return Plan(tests=tests, tasks=tuple(tasks), wrong=tuple(map(str, sorted(catalog.wrong))))


def skip_without_model(items: Sequence[pytest.Item], catalog: Catalog) -> None:
    """Mark the items to be skipped that have neither a model nor recorded replies.

    An item that the command line names is not skipped, so that the missing model is an error.
    """
    for item in items:
        if (task := without_model(item, catalog)) is not None and not is_named(item):
            item.add_marker(pytest.mark.skip(reason=no_model(task)))


def without_model(item: pytest.Item, catalog: Catalog) -> Task | None:
    """Return the task of an item that waits for a model, where there is none; else None."""
    made_for = parameters_of(item)
    if made_for is None or made_for.model or not waits(item):
        return None
    task = catalog.load(made_for.file).task
    return task if task.replay is None else None


def planned(item: pytest.Item, catalog: Catalog) -> PlannedTest:
    """Return the plan's entry of an item with a sample."""
    made_for = parameters_of(item)
    assert made_for is not None  # noqa: S101 - callers check `waits` first
    return PlannedTest(
        nodeid=item.nodeid,
        test=_test_name(item, made_for),
        file=str(made_for.file),
        task=catalog.load(made_for.file).task.name,
        sample=made_for.sample,
        model=made_for.model,
        epoch=made_for.epoch,
    )


def tag_keywords(items: Sequence[pytest.Item], catalog: Catalog) -> None:
    """Add each sample's tags to the keywords of its test, for ``-k``.

    They are added as slugs: the tag ``wave optics`` becomes ``wave-optics``.
    """
    slugs: dict[str, str] = {}
    for item in items:
        if (made_for := parameters_of(item)) is not None:
            for tag in catalog.load(made_for.file).by_id[made_for.sample].tags:
                item.extra_keyword_matches.add(slugs.setdefault(tag, slug(tag)))


def free_waits_from_timeout(items: Sequence[pytest.Item]) -> None:
    """Let pytest-timeout measure only the test body, without the wait for the model.

    The closest `timeout` mark is repeated with ``func_only=True``. Without one, a mark with this
    argument alone changes a time-out of the command line or the ini file. Items with one mark, such
    as all samples of a function, share what repeats it.
    """
    made: dict[int, pytest.MarkDecorator] = {}
    for item in items:
        if waits(item):
            mark = item.get_closest_marker("timeout")
            if (body_only := made.get(id(mark))) is None:
                args, kwargs = ((), {}) if mark is None else (mark.args, mark.kwargs)
                body_only = pytest.mark.timeout(*args, **{**kwargs, "func_only": True})
                made[id(mark)] = body_only
            item.add_marker(body_only, append=False)


def _task_file(marker: pytest.Mark, test_file: Path) -> Path:
    if len(marker.args) != 1 or marker.kwargs or not isinstance(marker.args[0], str):
        msg = (
            f"{test_file}: the llmeval mark takes one argument, the task file, "
            "as in mark.llmeval('task.yaml')"
        )
        raise UsageError(msg)
    return (test_file.parent / marker.args[0]).resolve()


def _parameters(
    loaded: LoadedTask, address: Path, settings: Settings, models: Sequence[str]
) -> Iterator[Parameters]:
    _, variant = parse_address(address)
    ids = id_slugs([sample.id for sample in loaded.samples])
    model_slugs = id_slugs(models)
    for sample, sample_slug in zip(loaded.samples, ids, strict=True):
        if settings.samples and sample.id not in settings.samples:
            continue
        for model, model_slug in zip(models, model_slugs, strict=True):
            for epoch in range(1, settings.epochs + 1):
                parts = [sample_slug, *([] if variant is None else [variant])]
                parts += [model_slug] if len(models) > 1 else []
                parts += [f"e{epoch}"] if settings.epochs > 1 else []
                yield Parameters(address, sample.id, model, epoch, "-".join(parts))


def _test_name(item: pytest.Item, made_for: Parameters) -> str:
    """Return the test function's node id with the parameters that are not this plugin's."""
    assert isinstance(item, pytest.Function)  # noqa: S101 - only functions have a callspec
    parent = item.parent.nodeid if item.parent is not None else ""
    others = f"-{item.callspec.id}-".replace(f"-{made_for.id}-", "-", 1).strip("-")
    return f"{parent}::{item.originalname}" + (f"[{others}]" if others else "")


def is_skipped(item: pytest.Item) -> bool:
    """Return whether a skip or skipif mark excludes the item."""
    try:
        return evaluate_skip_marks(item) is not None
    except pytest.fail.Exception:
        # The condition of a mark is invalid; pytest reports it when the item runs.
        return True
