"""What the plugin holds for one pytest session; the hooks call its methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_llmeval.engine.addresses import check_address
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.specs import parse_spec, parse_specs
from pytest_llmeval.errors import UsageError
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
from pytest_llmeval.scoring.assertions import RUNNING
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

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
        """Read the options; a UsageError (pytest's or ours) when one is wrong."""
        self.settings = _resolved(config)
        if self.settings.base_url is not None:
            check_address(self.settings.base_url, "--llmeval-base-url")
        folder = Path(self.settings.folder)
        models = parse_specs(self.settings.models, folder=folder)
        for spec in self.settings.judges:
            parse_spec(spec, folder=folder)
        if self.settings.record and len({model.bare for model in models}) > 1:
            msg = "--llmeval-record takes one --llmeval-model: a recording answers a request whoever is asked"
            raise UsageError(msg)
        if self.settings.record and len(self.settings.judges) > 1:
            msg = "--llmeval-record takes one --llmeval-judge, for the same reason; --llmeval-cache keeps them apart"
            raise UsageError(msg)
        self.catalog = Catalog(self.settings)
        self.main = (
            None
            if hasattr(config, "workerinput")
            else MainSide(config, self.settings, self.catalog)
        )
        self._side: Side = self.main or WorkerSide(config)

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Give a marked test its samples."""
        parametrize(metafunc, self.settings, self.catalog)

    def prepare(self, config: pytest.Config, items: Sequence[pytest.Item]) -> None:
        """Add to each item what selection and time-outs need."""
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

    def attach(
        self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
    ) -> None:
        """Put the sample's row on a report."""
        if (running := item.stash.get(RUNNING_TEST, None)) is not None:
            if self.settings.taxonomy and call.when == "call":
                # Here, because only the body knows that the answer is wrong, and the row leaves
                # with this report.
                running.label()
            if attach_row(report, call, running, gating=self.settings.gate is not None):
                # The item's too: junitxml reads those of the tear-down's report, which is made from
                # it.
                item.user_properties[:] = report.user_properties


def _resolved(config: pytest.Config) -> Settings:
    settings = resolve(config)
    if settings.replay_run is None:
        return settings
    from pytest_llmeval.session.replaying import as_asked  # noqa: PLC0415 - for sessions that score again

    if settings.resume is not None:
        msg = "--llmeval-replay-run scores into a run of its own; --llmeval-resume goes on with one: choose"
        raise UsageError(msg)
    return as_asked(settings)


SESSION = pytest.StashKey[EvalSession]()
