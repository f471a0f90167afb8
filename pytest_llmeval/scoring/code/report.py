"""What came of the tests of one program."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Record
from pytest_llmeval.safety.printable import printable
from pytest_llmeval.sandbox.run import Run
from pytest_llmeval.scoring.binary import shown
from pytest_llmeval.scoring.code.samples import Case

_SHOWN: Final = 500
"""Characters of a test and of a reason."""

_ENDING: Final = 2_000
"""Characters of standard error, the last ones."""


class CodeReport(Record, frozen=True, kw_only=True):
    """What came of the tests of one program; all texts are printable.

    Attributes:
        passed: number of tests that passed.
        total: number of tests.
        failed: the first test that failed; "" if none did, or if it is not known.
        why: why it failed, or why the tests did not run to their end; "" if all passed.
        stderr: the end of the program's standard error.
    """

    passed: int
    total: int
    failed: str = ""
    why: str = ""
    stderr: str = ""

    @property
    def correct(self) -> bool:
        """Whether the tests ran to their end, and all of them passed."""
        return self.passed == self.total and not self.why


def report_of(run: Run) -> CodeReport:
    """Return what a run of `tests_process` reported.

    Raises:
        ScorerError: the tests themselves are at fault, or their process failed before it told the
            program anything.
    """
    lines = list(_lines(run.output))
    if not lines:
        why = run.errors.strip().rpartition("\n")[2] or run.problem or "no reason was given"
        msg = f"the tests could not be started: {printable(why, _SHOWN)}"
        raise ScorerError(msg)
    results = [line for line in lines if "passed" in line]
    failures = [line for line in results if not line["passed"]]
    passed = len(results) - len(failures)
    total = max([line["total"] for line in lines if "total" in line], default=1)
    end = next((line for line in lines if "end" in line), None)
    if broken := next((line["broken"] for line in lines if "broken" in line), None):
        msg = f"the tests cannot be run: {printable(str(broken), _SHOWN)}"
        raise ScorerError(msg)
    if end is not None and not failures:
        if not end["asked"]:
            msg = "the tests ask nothing of the program, so that every program would pass"
            raise ScorerError(msg)
        total = max(total, passed)
        return CodeReport(passed=total, total=total, stderr=_ending(run))
    first = failures[0] if failures else {}
    reason = str(first.get("why") or run.problem or "the tests did not run to their end")
    if gave := first.get("gave"):
        reason += f"; the last value that the program gave: {gave}"
    return CodeReport(
        passed=passed,
        total=max(total, len(results), passed + 1),
        failed=printable(str(first.get("test", "")), _SHOWN),
        why=printable(reason, _SHOWN),
        stderr=_ending(run),
    )


def report_of_cases(cases: Sequence[Case], runs: Sequence[Run]) -> CodeReport:
    """Return what came of running a program on cases, of which the last ones may not have run."""
    judged = list(zip(cases, runs, strict=False))
    wrong = [(case, run) for case, run in judged if not _passes(case, run)]
    if not wrong and len(runs) == len(cases):
        return CodeReport(passed=len(cases), total=len(cases), stderr=_ending(runs[-1]))
    case, run = wrong[0]
    return CodeReport(
        passed=len(judged) - len(wrong),
        total=len(cases),
        failed=f"input {shown(printable(case.input, _SHOWN))}",
        why=run.problem
        or f"it wrote {shown(printable(run.output, _SHOWN))} in place of "
        f"{shown(printable(case.output, _SHOWN))}",
        stderr=_ending(run),
    )


def _passes(case: Case, run: Run) -> bool:
    """Whether a program ended well and wrote the output; blanks that end lines do not count."""
    return run.problem is None and _comparable(run.output) == _comparable(case.output)


def _comparable(output: str) -> list[str]:
    return [line.rstrip() for line in output.rstrip().split("\n")]


def _lines(output: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a report; the last one may be cut."""
    for line in output.splitlines():
        with suppress(ValueError):
            yield json.loads(line)


def _ending(run: Run) -> str:
    return printable(run.errors[-_ENDING:].strip(), _ENDING)
