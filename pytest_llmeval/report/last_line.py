"""The last line of a run whose figures or files make it fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.gate_result import GateResult

_NAMED: Final = 3
"""Rules that are named at most."""

_LIMIT: Final = 160
"""Characters of a sentence about a file at most."""


def last_line(gate: GateResult | None, unwritten: Sequence[str], exit_status: int) -> str | None:
    """Return why a run fails though its tests may all have passed; None if it does not.

    Example: ``gate not passed: 2 of 5 rules: sums.accuracy, sums.coverage (missing) - exit status
    1``. It is ASCII but for names of tasks and files: it is seen in every log.

    Args:
        gate: the gate's result, if there is a gate.
        unwritten: sentences about what could not be written.
        exit_status: what pytest exits with.
    """
    reasons = []
    if gate is not None and not gate.passed:
        reasons.append(f"gate not passed: {_rules(gate)}")
    if unwritten:
        more = len(unwritten) - 1
        reasons.append(clean(unwritten[0], _LIMIT) + (f" (and {more} more)" if more else ""))
    return f"{'; '.join(reasons)} - exit status {exit_status}" if reasons else None


def _rules(gate: GateResult) -> str:
    if not gate.results:
        return "the run holds no rows to judge"
    plain = ("pass", "fail")
    names = dict.fromkeys(
        clean(f"{one.task}.{one.metric}") + ("" if one.status in plain else f" ({one.status})")
        for one in gate.unmet
    )
    more = len(names) - _NAMED
    named = ", ".join((*names,)[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{len(gate.unmet)} of {len(gate.results)} rules: {named}"
