"""The hooks of the main process alone: rows off reports, the workers' channels, and the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.plugin.junit import add_to_junit
from pytest_llmeval.plugin.worker_side import CHANNEL, IS_FIRST

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_llmeval.plugin.main_side import MainSide
    from pytest_llmeval.session.conclusion import Conclusion


class MainHooks:
    """Registered where the user's command runs: the xdist controller, or the only process."""

    def __init__(self, config: pytest.Config, main: MainSide) -> None:
        """Serve `main`."""
        self._config, self._main = config, main
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
        self._main.listen(node.gateway.id, channel)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Refuse what cannot be run, and to run every sample once per worker."""
        self._main.check()
        if self._main.plan.tests and self._config.getoption("dist", "no") == "each":
            msg = "--dist each would pay for every sample once per worker; use another --dist"
            raise pytest.UsageError(msg)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Tell what the tests would cost instead of running them, if that is asked for."""
        return self._main.tell_estimate(session.config) or None

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Show a sample whose worker died as an error: that is no answer of the model's."""
        return ("error", "E", "ERROR") if self._main.died_over(report) else None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the row off the report; stop the engine when this failure was one too many (pytest counts first).

        Under -x xdist waits for all workers before the session finishes, and they wait for their
        replies.
        """
        self._main.report(report)
        if self._session is not None and self._session.shouldfail:
            self._main.close(str(self._session.shouldfail), in_haste=True)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note that a test is over, and show progress."""
        self._main.over(nodeid)
        self._main.show_progress()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that somebody waits for the end, unless pytest interrupts itself (a budget is spent, --sw)."""
        self._in_haste = not isinstance(excinfo.value, pytest.Session.Interrupted)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Stop the engine first (before xdist's own end, which waits for its workers), then conclude."""
        self._main.close("run stopped", in_haste=self._in_haste)
        self._conclusion = self._main.conclude()
        if (
            self._conclusion is not None
            and self._conclusion.gate_failed
            and exitstatus == pytest.ExitCode.OK
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._conclusion is not None and self._conclusion.gate is not None:
            add_to_junit(self._config, self._conclusion.gate)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print the results table."""
        if self._conclusion is not None:
            self._conclusion.print(terminalreporter)
