"""The hooks of a session whose workers are on other machines.

The broker has started the workers before xdist begins; for xdist they are local processes, the
relays. What xdist has no mechanism for is added here: a test that a lost machine was about to run
is run again, and a run goes on with fewer workers where a lost one cannot be replaced.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any, Final

import pytest

from pytest_llmeval.workers import remote_session
from pytest_llmeval.workers.broker_process import BrokerProcess
from pytest_llmeval.workers.order import Event

_CUT_OFF: Final = "Not properly terminated"
"""What xdist says of a worker whose connection ended."""


class RemoteWorkers:
    """The hooks of a session whose workers are on other machines."""

    def __init__(self, config: pytest.Config, broker: BrokerProcess, hosts: Sequence[str]) -> None:
        """Use the workers of a broker; `hosts` are their machines, by slot."""
        self._config, self._broker, self._hosts = config, broker, hosts
        self._slots = {spec: slot for slot, spec in enumerate(config.option.tx)}
        self._endings: dict[str, Event] = {}
        self._again: set[str] = set()
        self._free: list[Any] = []
        self._owed = 0
        self._distribution: Any = None

    def pytest_report_header(self) -> str:
        """Say where the tests run."""
        count = len(self._hosts)
        by_host = ", ".join(f"{host} {n}" for host, n in sorted(Counter(self._hosts).items()))
        return f"llmeval: {count} worker{'s' * (count > 1)} on other machines: {by_host}"

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None]:
        """Tell a worker that was lost while xdist began from a fault of xdist."""
        self._distribution = self._config.pluginmanager.getplugin("dsession")
        # xdist has no hook for it: a worker that cannot be replaced would end the session.
        self._replace = self._distribution._clone_node  # noqa: SLF001 - as said
        self._distribution._clone_node = self._replaced  # noqa: SLF001 - as above
        try:
            return (yield)
        except (OSError, EOFError) as error:
            lost = [self._broker.ending(slot, within=0.5) for slot in range(len(self._hosts))]
            why = next((one.why for one in lost if one.kind != "crashed"), str(error))
            msg = f"--llmeval-workers: a worker was lost before the session began: {why}"
            raise pytest.UsageError(msg) from None

    def pytest_xdist_getremotemodule(self) -> object:
        """Return what a worker runs."""
        return remote_session

    @pytest.hookimpl(tryfirst=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401 - of xdist
        """Note why a worker has ended; use the place of one that has finished for a lost one."""
        if error is not None:
            event = self._ending(node, error)
            self._endings[node.gateway.id] = event
            self._write(f"[{node.gateway.id}] {event.why}")
            return
        # Its place is free, for other users of the cluster or for what is left to do.
        node.gateway.exit()
        self._free.append(node)
        if self._owed and self._distribution.sched.has_pending and self._clone_in_free_slot():
            self._owed -= 1

    def pytest_handlecrashitem(
        self,
        crashitem: str,
        report: pytest.TestReport,
        sched: Any,  # noqa: ANN401 - of xdist
    ) -> None:
        """Have a test run again that was about to run on a machine that is lost.

        That happens once for a test: the second time it may be the reason. A test whose worker's
        own process ended is the reason, and an error as with local workers.
        """
        ending = self._endings.get(report.node.gateway.id)
        if ending is None or ending.kind == "crashed" or crashitem in self._again:
            return
        self._again.add(crashitem)
        # The schedulers by file and scope cannot be told: they give the test to another worker
        # anyway.
        with suppress(NotImplementedError):
            sched.mark_test_pending(crashitem)
        report.outcome = "rerun"  # type: ignore[assignment]  # as pytest-rerunfailures has it

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Show a test that is run again."""
        return ("rerun", "R", "RERUN") if str(report.outcome) == "rerun" else None

    def _ending(self, node: Any, error: object) -> Event:  # noqa: ANN401 - of xdist
        """Return what ended a worker."""
        if error == _CUT_OFF:
            return self._broker.ending(self._slot(node))
        # Its session failed, and its process still waits.
        node.gateway.exit()
        why = "its session failed"
        return Event(kind="crashed", slot=self._slot(node), why=why, replaced=True)

    def _slot(self, node: Any) -> int:  # noqa: ANN401 - of xdist
        return next(
            slot
            for spec, slot in self._slots.items()
            # The keys' shield is put before it, and xdist adds the execution model.
            if node.gateway.spec.python.endswith(spec.partition("python=")[2])
        )

    def _replaced(self, node: Any) -> object:  # noqa: ANN401 - of xdist
        """Replace a lost worker if another one is ready; else go on without it.

        If no worker is left, the session ends. If the tests have not begun, it ends too: xdist
        begins with all workers.
        """
        event = self._endings[node.gateway.id]
        if event.replaced and (clone := self._clone(node)) is not None:
            return clone
        distribution = self._distribution
        if (clone := self._clone_in_free_slot()) is not None:
            return clone
        left = len(distribution._active_nodes - {node})  # noqa: SLF001 - xdist has no other count
        begun = distribution.sched.collection_is_completed
        if left and begun:
            self._owed += 1
            self._write(f"going on with {left} of {len(self._hosts)} workers")
        else:
            last = "no worker is left" if begun else "it was lost before the tests began"
            distribution.shouldstop = f"{last}: {event.why}"
        return None

    def _clone_in_free_slot(self) -> object | None:
        """Return a new worker in the slot of one that has finished; None if there is none."""
        while self._free:
            if (clone := self._clone(self._free.pop())) is not None:
                return clone
        return None

    def _clone(self, node: Any) -> object | None:  # noqa: ANN401 - of xdist
        """Return a new worker in a node's slot; None if it was lost while it began."""
        try:
            return self._replace(node)  # type: ignore[no-any-return]
        except (OSError, EOFError):
            why = self._broker.ending(self._slot(node)).why
            self._write(f"[{node.gateway.id}] its replacement was lost too: {why}")
            return None

    def _write(self, line: str) -> None:
        if (reporter := self._config.pluginmanager.getplugin("terminalreporter")) is not None:
            # Below the letters of tests, as xdist writes its own lines.
            reporter.write_line(f"\nllmeval: {line}")
