"""What changed against a baseline, as Markdown for a pull request: differences, flipped samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import p_value_text, signed, span
from pytest_llmeval.report.html import Against
from pytest_llmeval.report.left_out import use_text
from pytest_llmeval.report.markdown import escape, markdown_row
from pytest_llmeval.report.metric_text import metric_head, metric_value
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Pair

_ID_LIMIT: Final = 40
_QUESTION_LIMIT: Final = 100

_HEADS: Final = ("", "metric", "before", "now", "difference", "interval (Holm)", "p (Holm)", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much is listed: lines of each table, and flipped samples of each task and way."""

    lines: int
    samples: int


def changed_parts(
    against: Against, questions: Mapping[tuple[str, str], str], room: Room
) -> Iterator[str]:
    """Yield what changed: differences first, then the samples that were lost, then those gained.

    Args:
        against: the comparison.
        questions: excerpts by task and sample, as far as they are known.
        room: how much is listed.
    """
    comparison = against.comparison
    yield f"## What changed against {escape(clean(against.name))}"
    compared = sum(pair.n for pair in comparison.pairs)
    lost = sum(len(pair.lost) for pair in comparison.pairs)
    gained = sum(len(pair.gained) for pair in comparison.pairs)
    yield (
        f"**{lost:,} lost, {gained:,} gained** of {compared:,} samples that both runs scored."
        if compared
        else "**Nothing could be compared:** no sample was scored by both with one target."
    )
    pairs = sorted(comparison.pairs, key=_weight)
    if lines := [_line(pair, change) for pair in pairs for change in _shown(pair)]:
        table = [markdown_row(_HEADS), markdown_row([":---", ":---", *["---:"] * 5, ":---"])]
        yield "\n".join([*table, *lines[: room.lines]])
        yield from _more(len(lines) - room.lines, "differences")
    for way in ("lost", "gained"):
        flipped = [pair for pair in pairs if getattr(pair, way)]
        for pair in flipped[: room.lines]:
            yield _flipped(pair, way, questions, room.samples)
        yield from _more(len(flipped) - room.lines, f"tasks that {way} samples")
    yield from _regraded(pairs[: room.lines])
    names = (f"before: {against.name}", "now")
    yield "\n".join(
        f"- {escape(use_text(name, use))}" for name, use in zip(names, comparison.uses, strict=True)
    )


def _weight(pair: Pair) -> tuple[bool, float, str, str]:
    """Return a key by which significant drops stand first, then the largest ones."""
    worst = min((change.difference / change.scale for change in pair.compared), default=0.0)
    drops = any(one.differs_among_all and one.difference < 0 for one in pair.compared)
    return not drops, worst, pair.task, pair.model_b


def _shown(pair: Pair) -> list[Change]:
    """Return the change of accuracy, or the first one, and further ones that are significant."""
    return [one for place, one in enumerate(pair.compared) if not place or one.differs_among_all]


def _line(pair: Pair, change: Change) -> str:
    level = f"{100 * change.confidence:g} %"
    cells = [
        _name(pair),
        metric_head(change),
        metric_value(change.a, change),
        metric_value(change.b, change),
        signed(change.difference, change),
        f"{span(change, change.adjusted_interval)} ({level})",
        p_value_text(change.adjusted, change.confidence),
    ]
    return markdown_row([*map(escape, cells), _verdict(change)])


def _verdict(change: Change) -> str:
    if not change.differs_among_all:
        return "not significant" if change.difference else "no change"
    return "**significant rise**" if change.difference > 0 else "**significant drop**"


def _name(pair: Pair) -> str:
    models = dict.fromkeys((clean(pair.model_a), clean(pair.model_b)))
    return f"{clean(pair.task)} · {' → '.join(models)}"


def _flipped(pair: Pair, way: str, questions: Mapping[tuple[str, str], str], limit: int) -> str:
    ids: Sequence[str] = getattr(pair, way)
    whose = " (graders differ)" if pair.regrading is not None and pair.regrading.decides else ""
    lines = [f"{escape(_name(pair))}: **{len(ids):,} {way}**{whose}\n"]
    for sample in ids[:limit]:
        asked = clean(questions.get((pair.task, sample), ""), _QUESTION_LIMIT)
        parts = [f"**{escape(clean(sample, _ID_LIMIT))}**", *([escape(asked)] if asked else [])]
        before, now = map(_outcome, pair.correct[sample])
        lines.append(f"- {' · '.join(parts)}: {before} → {now}")
    return "\n".join([*lines, *(f"- {line}" for line in _more(len(ids) - limit, "samples"))])


def _outcome(share: float) -> str:
    """Return what became of a sample's epochs, of which this share is correct."""
    if share in {0.0, 1.0}:
        return "correct" if share else "incorrect"
    return f"correct in {numbers.percent(share)} of the epochs"


def _regraded(pairs: Sequence[Pair]) -> Iterator[str]:
    names = [escape(_name(pair)) for pair in pairs if pair.regrading is not None]
    if names:
        yield (
            "Graders differ, so that what they decide is not compared: " + "; ".join(names) + "."
        )


def _more(number: int, what: str) -> Iterator[str]:
    if number > 0:
        yield f"and {number:,} more {what}"
