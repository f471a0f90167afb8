"""What the plugin holds for one pytest session; the hooks call its methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_llmeval.assertions import RUNNING
from pytest_llmeval.catalog import Catalog
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.plugin.main_side import MainSide
from pytest_llmeval.plugin.options import resolve
from pytest_llmeval.plugin.parametrize import (
    case_of,
    free_waits_from_timeout,
    parametrize,
    plan_of,
    planned,
    tag_keywords,
    waits,
)
from pytest_llmeval.plugin.reporting import attach_row
from pytest_llmeval.plugin.running import RUNNING_TEST, Running
from pytest_llmeval.plugin.worker_side import WorkerSide

if TYPE_CHECKING:
    from pytest_llmeval.engine.link import Link


class Side(Protocol):
    """The process's part: the one the user started, or an xdist worker."""

    @property
    def link(self) -> Link:
        """The way to the engine."""
        ...

    def collected(self, plan: Plan) -> None:
        """Take what this process selected."""
        ...


class EvalSession:
    """Settings and tasks of a session, and its side of the run."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options; pytest.UsageError when one is wrong."""
        self.settings = resolve(config)
        self.catalog = Catalog(self.settings)
        self.main = None if hasattr(config, "workerinput") else MainSide(config, self.settings, self.catalog)
        self._side: Side = self.main or WorkerSide(config)

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Give a marked test its samples."""
        parametrize(metafunc, self.settings, self.catalog)

    def prepare(self, config: pytest.Config, items: Sequence[pytest.Item]) -> None:
        """Add to each item what selection and time-outs need; pytest.UsageError for an override of an unknown task."""
        self._check_names()
        self._check_samples()
        tag_keywords(items, self.catalog)
        if config.pluginmanager.hasplugin("timeout"):
            free_waits_from_timeout(items)

    def collected(self, items: Sequence[pytest.Item]) -> None:
        """Plan the selected items."""
        self._side.collected(plan_of(items, self.catalog))

    def begin(self, item: pytest.Item) -> None:
        """Start an attempt at a test, where assertions find it."""
        running = Running(item.nodeid, lambda: self._side.link)
        if (case := case_of(item)) is not None:
            loaded = self.catalog.load(case.file)
            running.loaded, running.sample = loaded, loaded.by_id[case.sample]
        if waits(item):
            running.planned = planned(item, self.catalog)
        item.stash[RUNNING_TEST] = running
        RUNNING.set(running)

    def end(self) -> None:
        """End the attempt."""
        RUNNING.set(None)

    def attach(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        """Put the sample's row on a report."""
        if (running := item.stash.get(RUNNING_TEST, None)) is not None:
            attach_row(report, call, running, gating=self.settings.gate is not None)

    def _check_names(self) -> None:
        """Refuse an override for a task that no collected test has: most likely its name is mistyped."""
        named = {*self.settings.datasets, *self.settings.overrides}
        tasks = {loaded.task.name for loaded in self.catalog.loaded.values()}
        if unknown := sorted(named - tasks):
            known = ", ".join(sorted(tasks)) or "none"
            msg = f"--llmeval-dataset or --llmeval-set names task {unknown[0]!r}; tasks collected here: {known}"
            raise pytest.UsageError(msg)

    def _check_samples(self) -> None:
        """Refuse a raw id that no task has."""
        known = {id_ for loaded in self.catalog.loaded.values() for id_ in loaded.by_id}
        if self.catalog.loaded and (unknown := [id_ for id_ in self.settings.samples if id_ not in known]):
            msg = f"--llmeval-sample {unknown[0]!r}: no task collected here has a sample with this id"
            raise pytest.UsageError(msg)


SESSION = pytest.StashKey[EvalSession]()
