"""What differs between two runs besides their results, and what is the same in both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import short_version
from pytest_llmeval.results.conditions import CommonSamples, Condition, Likeness

_LONGEST: Final = 300
"""Characters of a value."""

_IDS: Final = 20
"""Samples that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionLine:
    """One thing about how two runs were made, of the run or of the tasks named in `where`."""

    where: str
    name: str
    a: str
    b: str
    likeness: Likeness


def condition_lines(
    of_run: Iterable[Condition], by_task: Sequence[tuple[str, Sequence[Condition]]]
) -> tuple[ConditionLine, ...]:
    """Return a line for each condition; one that several tasks have alike is one line."""
    tasks: dict[Condition, list[str]] = {}
    for task, found in by_task:
        for one in found:
            tasks.setdefault(one, []).append(task)
    lines = [_line("the run", one) for one in of_run]
    lines += [_line(_where(names, len(by_task)), one) for one, names in tasks.items()]
    return tuple(lines)


def sample_sentences(task: str, common: CommonSamples) -> Iterator[str]:
    """Yield what two parts of runs have in common, if it is not all."""
    alone = {"a": common.only_a, "b": common.only_b}
    apart = [f"{number:,} in {side} alone" for side, number in alone.items() if number]
    if apart:
        yield f"{clean(task)}: {common.both:,} samples in both, {' and '.join(apart)}"
    named = {
        "another question under the same id, so left out": common.asked_otherwise,
        "another target under the same id, so left out": common.retargeted,
    }
    for what, ids in named.items():
        if ids:
            more = ", …" if len(ids) > _IDS else ""
            shown = ", ".join(clean(one, 40) for one in ids[:_IDS])
            yield f"{clean(task)}: {what}: {len(ids):,} ({shown}{more})"
    if common.unknown:
        yield (
            f"{clean(task)}: whether {common.unknown:,} samples were asked the same is not known: "
            "the file of an older baseline does not tell"
        )


def _where(names: Sequence[str], tasks: int) -> str:
    known = dict.fromkeys(map(clean, names))
    if len(names) == tasks > 1:
        return f"all {tasks:,} tasks"
    return ", ".join(known)


def _line(where: str, one: Condition) -> ConditionLine:
    a, b = (clean(short_version(text), _LONGEST) for text in (one.a, one.b))
    return ConditionLine(where=where, name=clean(one.name), a=a, b=b, likeness=one.likeness)
