"""The hooks of the main process alone: workers' channels, rows, and the end of the run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.errors import UsageError
from pytest_llmeval.plugin.channel import CHANNEL, IS_FIRST
from pytest_llmeval.plugin.state import State

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_llmeval.session.conclusion import Conclusion


class MainHooks:
    """Registered where the user's command runs: the xdist controller, or the only process."""

    def __init__(self, state: State) -> None:
        """Serve the main process's state."""
        self._state = state
        self._conclusion: Conclusion | None = None
        self._workers = 0
        self._session: pytest.Session | None = None
        self._in_haste = False

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep the session: reports come without it."""
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - xdist's type; xdist may be absent
        """Give a worker its channel to the engine."""
        channel = node.gateway.newchannel()
        node.workerinput[CHANNEL] = channel
        node.workerinput[IS_FIRST] = self._workers == 0
        self._workers += 1
        channel.setcallback(partial(self._state.receive, node.gateway.id, channel))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Refuse what cannot be run, and to run every sample once per worker."""
        if self._state.active:
            self._state.check_workers()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Print what the tests would cost instead of running them, if that is asked for."""
        if not (self._state.settings.estimate and self._state.active):
            return None
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        for line in self._state.main.estimate():
            reporter.write_line(f"estimate: {line}")
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Show a sample whose worker died as an error: that is no answer of the model's."""
        died = self._state.active and self._state.process.died_over(report)
        return ("error", "E", "ERROR") if died else None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the row; stop the engine when this failure was one too many (pytest counts first).

        Under -x xdist waits for all workers before the session finishes, and they wait for their
        replies.
        """
        if not self._state.active:
            return
        self._state.process.report(report)
        if self._session is not None and self._session.shouldfail:
            self._state.process.close(str(self._session.shouldfail), in_haste=True)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note that a test is over, and show progress."""
        if self._state.active:
            self._state.process.over(nodeid)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that somebody waits, unless pytest interrupts itself (a budget is spent, --sw)."""
        self._in_haste = not isinstance(excinfo.value, pytest.Session.Interrupted)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Stop the engine before xdist's own end, which waits for its workers; then conclude."""
        if not self._state.active:
            return
        self._state.process.close("run stopped", in_haste=self._in_haste)
        self._conclusion = conclusion = self._state.process.conclude()
        if conclusion is not None and conclusion.gate_failed and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print the results table."""
        if self._conclusion is not None:
            self._state.process.print(self._conclusion, terminalreporter)
