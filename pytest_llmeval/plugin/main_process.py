"""The plugin's part in the main process: reports, progress and the end of the run."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
from _pytest.terminal import TerminalReporter

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.plugin.garbage import set_aside
from pytest_llmeval.plugin.interruption import Interruption
from pytest_llmeval.plugin.junit import add_to_junit
from pytest_llmeval.plugin.printed import redact_report
from pytest_llmeval.plugin.progress import ProgressDisplay
from pytest_llmeval.plugin.terminal import TerminalPage
from pytest_llmeval.records import Row
from pytest_llmeval.report.last_line import last_line
from pytest_llmeval.safety.printable import printable
from pytest_llmeval.session.failures import Failure
from pytest_llmeval.session.host import Host
from pytest_llmeval.session.key_variables import key_variables
from pytest_llmeval.session.main_session import MainSession
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

if TYPE_CHECKING:
    from pytest_llmeval.session.conclusion import Conclusion

CRASHED = "???"
"""The phase that xdist reports for a test whose worker died."""


class MainProcess:
    """The xdist controller, or the only process, as the frame of a `MainSession`.

    Attributes:
        session: the run.
        interruption: the handler of Ctrl-C.
        progress: shows how far the run is.
    """

    def __init__(self, config: pytest.Config, settings: Settings, catalog: Catalog) -> None:
        """Make the session.

        Raises:
            UsageError: a file that the options name is invalid.
        """
        self._config, self._settings = config, settings
        self._redactor = Redactor.of(os.environ)
        self.progress = ProgressDisplay(
            config,
            settings.progress,
            lambda: self.session.progress(time.monotonic()),
            lambda text: self._redactor.text(printable(text)),
        )
        self.interruption = Interruption(self._hurry)
        self.session = MainSession(settings, catalog, self._host())
        self.interruption.install()
        config.add_cleanup(self.interruption.restore)
        config.add_cleanup(self.progress.close)

    @property
    def keys(self) -> frozenset[str]:
        """Names of the environment variables with keys that only this process needs."""
        return key_variables(self._settings, os.environ)

    def check(self) -> None:
        """Check that the plan can be run; UsageError if it cannot."""
        option = self._config.option
        sends = not (option.collectonly or option.setupplan)
        if self.session.check(sends=sends):
            set_aside()
            self.interruption.install(terminate=True)
            if sends and not self._settings.estimate:
                self.progress.start()

    def report(self, report: pytest.TestReport) -> None:
        """Add the row of a test's report.

        A test whose worker died is refused further completions. xdist's schedulers by file and by
        scope would give it to one worker after another, until the tests after it are lost. A rerun
        on purpose (pytest-rerunfailures) has no failed report, and is allowed.
        """
        # Taken away from the report, which pytest keeps until the end of the session.
        row: Row | str | None = vars(report).pop("llmeval", None)
        if row is not None:
            made = row if isinstance(row, Row) else Row.from_json(json.loads(row))
            self.session.rows.add(made)
            self._note_failure(report, made)
            if report.skipped and made.outcome == "unscored" and self._settings.gate is None:
                self.session.unjudged[made.explanation] += 1
        elif self.is_of_crash(report) and report.failed:
            test = self.session.plan.tests[self.session.plan.index[report.nodeid]]
            self.session.rows.add_unreported(test, "error", str(report.longrepr))
        if self.is_of_crash(report) and report.failed:
            reason = f"not run again: {report.longrepr}"
            self.session.controller_link.refuse(report.nodeid, reason)

    def _note_failure(self, report: pytest.TestReport, row: Row) -> None:
        """Note the failure of the user's own code, or that a test ended by its scores."""
        found = getattr(report, "llmeval_failure", None)
        position = self.session.plan.index.get(report.nodeid)
        if position is None:
            return
        test = self.session.plan.tests[position]
        if found is not None:
            self.session.failed(test, Failure(*found))
        elif row.outcome in {"correct", "incorrect", "unscored"}:
            self.session.failed(test, None)

    def is_of_crash(self, report: pytest.TestReport) -> bool:
        """Return whether a report is xdist's, of a planned test whose worker died."""
        return str(report.when) == CRASHED and report.nodeid in self.session.plan.index

    def over(self, nodeid: str) -> None:
        """Note that a test has ended."""
        self.session.over(nodeid)

    def close(self, reason: str, *, in_haste: bool) -> None:
        """Stop the engine; see `MainSession.close`."""
        self.session.close(reason, in_haste=in_haste)
        self.progress.flush()

    def conclude(self, *, lost_worker: bool) -> Conclusion | None:
        """Return the conclusion of the run, and end the progress; see `MainSession.conclude`."""
        conclusion = self.session.conclude(lost_worker=lost_worker)
        self.progress.close()
        if conclusion is not None and conclusion.gate is not None:
            add_to_junit(self._config, conclusion.gate)
        return conclusion

    def redact(self, report: pytest.TestReport) -> None:
        """Remove keys from a report of ours; workers do not know them."""
        if getattr(report, "llmeval_ours", False):
            redact_report(self._config, report, self._redactor.text)

    def print(self, conclusion: Conclusion, reporter: TerminalReporter) -> None:
        """Write a conclusion to the terminal."""
        page = TerminalPage(reporter, self._redactor.text)
        conclusion.print(page, groups=self._settings.groups)

    def print_last(self, conclusion: Conclusion, reporter: TerminalReporter, status: int) -> None:
        """Write why the run fails, below everything else, if it does by its gate or its files."""
        line = last_line(conclusion.gate, conclusion.unwritten, status)
        if line is not None:
            reporter.write_line(self._redactor.text(printable(line)), red=True, bold=True)

    def _hurry(self) -> None:
        self.session.hurry()

    def _host(self) -> Host:
        option = self._config.getoption
        return Host(
            tell=self.progress.tell,
            flush=self.progress.flush,
            root=self._config.rootpath,
            stops_early=bool(option("maxfail", 0) or option("stepwise", False)),
        )
