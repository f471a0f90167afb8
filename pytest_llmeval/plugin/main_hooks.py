"""The hooks of the main process only: workers' channels, reports, and the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.plugin.channel import CHANNEL, HANDLES_CTRL_C, IS_FIRST, KEEPS_TESTS
from pytest_llmeval.plugin.interruption import leave_out_lineless
from pytest_llmeval.plugin.spawning import shield_workers
from pytest_llmeval.plugin.state import State

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_llmeval.session.conclusion import Conclusion


def _send(send: Callable[..., None], *command: object, **arguments: object) -> None:
    """Send a command to a worker; one that is dead gets none.

    xdist replaces the worker and runs its tests elsewhere as soon as it has read of its death; a
    failure to send, which comes before, would end the session by an internal error.
    """
    with suppress(OSError):
        send(*command, **arguments)


class MainHooks:
    """Hooks that are registered in the xdist controller, or in the only process."""

    def __init__(self, state: State) -> None:
        """Call the main process's `state`."""
        self._state = state
        self._conclusion: Conclusion | None = None
        self._workers = 0
        self._session: pytest.Session | None = None
        self._in_haste = False
        self._lost_worker = False
        self._printed = False

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Store the session, which the hook for reports does not get."""
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: list[Any]) -> None:
        """Start workers without keys (see `shield_workers`)."""
        if self._state.active:
            shield_workers(specs, self._state.main.keys)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - a type of xdist
        """Pass a worker its channel to the engine."""
        channel = node.gateway.newchannel()
        node.workerinput[CHANNEL] = channel
        node.workerinput[HANDLES_CTRL_C] = self._state.handles_ctrl_c
        node.workerinput[IS_FIRST] = self._workers == 0 or not self._state.has_plan
        node.workerinput[KEEPS_TESTS] = node.config.getoption("dist") != "worksteal"
        self._workers += 1
        node.sendcommand = partial(_send, node.sendcommand)
        channel.setcallback(partial(self._state.receive, node.gateway.id, channel))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        """Note that a worker has died; one that has ended comes without an error."""
        self._lost_worker = self._lost_worker or error is not None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Refuse a plan that cannot be run, and ``--dist each``."""
        if self._state.active:
            self._state.check_workers()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """With ``--llmeval-estimate``, print the estimate instead of running the tests."""
        if not (self._state.settings.estimate and self._state.active):
            return None
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        for line in self._state.main.session.estimate():
            reporter.write_line(f"estimate: {line}")
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Show a test whose worker died as an error, because the model did not fail."""
        crashed = self._state.active and self._state.main.is_of_crash(report) and report.failed
        return ("error", "E", "ERROR") if crashed else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Remove keys from the report, before anybody shows it; then add its row.

        pytest has counted the failure by then.
        """
        if not self._state.active:
            yield
            return
        self._state.main.redact(report)
        with self._state.main.progress.silent():
            yield
        self._add(report)

    def _add(self, report: pytest.TestReport) -> None:
        """Add the row; stop the engine if -x or --maxfail ends the session with this report.

        It is stopped here, because xdist waits for all workers before the session finishes, and
        they wait for their replies.
        """
        self._state.main.report(report)
        if self._session is not None and self._session.shouldfail:
            self._state.main.close(str(self._session.shouldfail), in_haste=True)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note that a test has ended."""
        if self._state.active:
            self._state.main.over(nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None]:
        """Let pytest begin a test's line, after a debugger has ended with the one before."""
        if not self._state.active:
            return (yield)
        self._state.main.progress.resume()
        with self._state.main.progress.silent():
            return (yield)

    def pytest_enter_pdb(self) -> None:
        """Leave the terminal to the debugger."""
        if self._state.active:
            self._state.main.progress.pause()

    def pytest_leave_pdb(self) -> None:
        """Show progress again."""
        if self._state.active:
            self._state.main.progress.resume()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note whether the user interrupted, and not pytest itself (a spent budget, --sw)."""
        if self._state.active:
            self._state.main.interruption.ending()
            leave_out_lineless(excinfo)
        self._in_haste = not isinstance(excinfo.value, pytest.Session.Interrupted)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Stop the engine and conclude the run.

        The hook runs before xdist's, which waits for the workers, and they for the engine.
        """
        if not self._state.active:
            return
        self._state.main.interruption.ending()
        self._state.main.close("run stopped", in_haste=self._in_haste)
        self._conclusion = conclusion = self._state.main.conclude(lost_worker=self._lost_worker)
        if conclusion is None or exitstatus != pytest.ExitCode.OK:
            return
        lost = self._lost_worker and conclusion.not_run
        if conclusion.fails or lost or self._state.main.session.unjudged:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print the results table."""
        if self._conclusion is not None:
            self._printed = True
            self._state.main.print(self._conclusion, terminalreporter)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Print as the last line why the run fails, if it does by its gate or its files.

        After an internal error, which pytest ends without a summary, the results table comes first.
        """
        reporter = config.pluginmanager.getplugin("terminalreporter")
        if self._conclusion is None or self._session is None or reporter is None:
            return
        status = int(self._session.exitstatus)
        if status == pytest.ExitCode.INTERNAL_ERROR and not self._printed:
            self.pytest_terminal_summary(reporter)
        self._state.main.print_last(self._conclusion, reporter, status)
