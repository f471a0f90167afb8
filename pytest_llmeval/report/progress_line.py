"""The progress of a run as one line of text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len, set_cell_size

from pytest_llmeval.engine.batches.gauge import BatchGauge
from pytest_llmeval.records import Usage
from pytest_llmeval.report.numbers import count, interval, money, percent
from pytest_llmeval.results.statistics import Interval

_RANK: Final = (
    "done",
    "batches",
    "accuracy",
    "left",
    "errors",
    "spent",
    "interval",
    "in flight",
    "retries",
)
"""The parts of the line, the most important first; a narrow terminal loses the last ones."""

_ASCII: Final = str.maketrans({"·": "|", "–": "-", "…": "."})
_RED, _RESET = "\x1b[31m", "\x1b[0m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is.

    Attributes:
        done: tests that have ended.
        planned: planned tests.
        accuracy: of the rows so far (0..1); None if none is scored.
        interval: its interval.
        errors: rows that are errors.
        in_flight: requests that are with providers.
        retries: failed attempts that were repeated.
        usage: what live models have used.
        left: estimated seconds until the end; None if that is not known.
        batches: how far the batches are; None in a run without them.
    """

    done: int
    planned: int
    accuracy: float | None = None
    interval: Interval | None = None
    errors: int = 0
    in_flight: int = 0
    retries: int = 0
    usage: Usage = field(default_factory=Usage)
    left: float | None = None
    batches: BatchGauge | None = None


def progress_line(
    progress: Progress, *, width: int | None = None, ascii_only: bool = False, color: bool = False
) -> str:
    """Return the line, of as many parts as fit.

    Example: ``llmeval: 120/500 done · accuracy 71.3 % (62.1–79.0) · 2 errors · 64 in flight · $1.20
    · 3:10 left``.

    Args:
        progress: how far the run is.
        width: columns that the line may have; None is no limit.
        ascii_only: whether the output cannot show other characters.
        color: whether errors are red.
    """
    parts = _parts(progress)
    for kept in range(len(_RANK), 0, -1):
        texts = {name: text for name, text in parts.items() if name in _RANK[:kept]}
        line = _joined(texts)
        if width is None or cell_len(line) <= width:
            break
    else:
        line = set_cell_size(line, width or 0)
        texts.pop("errors", None)
    if color and "errors" in texts:
        line = line.replace(texts["errors"], f"{_RED}{texts['errors']}{_RESET}")
    return line.translate(_ASCII) if ascii_only else line


def _parts(progress: Progress) -> dict[str, str]:
    """Return the texts of the parts that there are, in the order of the line."""
    used, bounds = progress.usage, progress.interval
    spent = money(used.cost) if used.cost is not None else f"{count(used.total_tokens)} tokens"
    parts = {
        "done": f"{progress.done:,}/{progress.planned:,} done",
        "accuracy": progress.accuracy is not None and f"accuracy {percent(progress.accuracy)}",
        "interval": bounds and f"({interval(100 * bounds.low, 100 * bounds.high, 100)})",
        "errors": progress.errors and _counted(progress.errors, "error", "errors"),
        "batches": progress.batches and _batches(progress.batches),
        "in flight": progress.in_flight and f"{progress.in_flight:,} in flight",
        "retries": progress.retries and _counted(progress.retries, "retry", "retries"),
        "spent": used.total_tokens and spent,
        "left": progress.left is not None and f"{_clock(progress.left)} left",
    }
    return {name: text for name, text in parts.items() if text}


def _batches(gauge: BatchGauge) -> str:
    """Return ``batches 1/3 ended, 2,000 requests waiting``."""
    ended = f"batches {gauge.ended:,}/{gauge.sent:,} ended" if gauge.sent else "gathering a batch"
    return f"{ended}, {_counted(gauge.waiting, 'request', 'requests')} waiting"


def _joined(texts: dict[str, str]) -> str:
    gaps = {"done": " ", "interval": " "}
    return "llmeval:" + "".join(f"{gaps.get(name, ' · ')}{text}" for name, text in texts.items())


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _clock(seconds: float) -> str:
    """Return ``0:05``, ``3:10`` or ``1:03:10``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
