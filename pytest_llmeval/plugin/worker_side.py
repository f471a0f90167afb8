"""An xdist worker's side of a run: it asks the controller's engine."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_llmeval.engine.plan import Plan

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.engine.link import WorkerLink

CHANNEL = "llmeval"
"""The key in a worker's input under which its channel travels."""

IS_FIRST = "llmeval-first"
"""The key that tells the first worker (ids are the user's to choose: ``--tx popen//id=abc``)."""


class WorkerSide:
    """Tells the controller what was collected, and passes wishes on."""

    def __init__(self, config: pytest.Config) -> None:
        """Find the channel in the worker's input."""
        self._input = config.workerinput  # type: ignore[attr-defined]  # xdist puts it there

    @cached_property
    def link(self) -> WorkerLink:
        """The channel to the controller."""
        from pytest_llmeval.engine.link import WorkerLink  # noqa: PLC0415 - a session without samples needs none

        return WorkerLink(self._input[CHANNEL])

    def collected(self, plan: Plan) -> None:
        """Tell the controller the plan; workers after the first tell its digest alone."""
        if plan.tasks:
            self.link.announce(plan, whole=self._input[IS_FIRST])
