"""What a results table says, before anyone draws it: titles, rows, columns, all text already clean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_llmeval.records import ERROR_KINDS
from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.compare import Change
from pytest_llmeval.results.summary import (
    Agreement,
    Calibrated,
    Judging,
    Mean,
    Summary,
    Tally,
    TaskInfo,
    TaskSummary,
    metric_name,
)

Tone: TypeAlias = Literal["plain", "strong", "quiet", "warning"]

_SOURCE_LIMIT = 200
"""Longest name of a source, in characters."""

_NAMES = {"valid_cypher": "valid Cypher", "valid_sldp": "valid SLDP"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell's text and how loud it is."""

    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: its head and a cell for each row."""

    head: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The head of a row; groups are indented under their model."""

    text: str
    indented: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Rows and their columns; columns of one unit stay side by side, a narrow page parts the units."""

    title: str = ""
    labels: tuple[Label, ...]
    units: tuple[tuple[Column, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything about one task: its figures, notes on them, and what others published."""

    title: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    literature: tuple[Block, ...] = ()


def remarks(summary: Summary) -> tuple[str, ...]:
    """Return what must be known before any figure is believed: where the answers came from."""
    tallies = [entry.tally for entry in summary.entries]
    rows = sum(tally.counts.planned for tally in tallies)
    said = []
    if recorded := sum(tally.recorded for tally in tallies):
        alone = not any(tally.live for tally in tallies)
        share = f"Recorded replies ran in {recorded:,} of {rows:,} rows."
        said.append("Recorded replies ran; no live model did." if alone else share)
    if cached := sum(tally.cached for tally in tallies):
        oldest = max((tally.oldest for tally in tallies if tally.oldest is not None), default=None)
        said.append(
            f"{cached:,} of {rows:,} rows are cached from other runs"
            + ("." if oldest is None else f", the oldest {numbers.age(oldest)} old.")
        )
    if recorded or cached:
        said.append(
            "Tokens, cost and seconds of such answers are those of the time they were made."
        )
    return tuple(said)


def sheets(summary: Summary) -> tuple[Sheet, ...]:
    """Return one sheet a task, in the summary's order."""
    tasks = dict.fromkeys(entry.task for entry in summary.entries)
    return tuple(
        _sheet([entry for entry in summary.entries if entry.task == task]) for task in tasks
    )


def _sheet(entries: Sequence[TaskSummary]) -> Sheet:
    info = entries[0].info
    title = clean(info.title) + (" (demo data)" if info.demo else "")
    models = {entry.model for entry in entries}
    if len(models) == 1:
        title += f" · {clean(entries[0].model)}"
    if part := _part(entries):
        title += f" · {part}"
    return Sheet(
        title=title,
        blocks=(_figures(entries), _use(entries), *_taxonomy(entries), *_judging(entries)),
        notes=_notes(entries),
        literature=() if info.demo else tuple(_literature(info, entries[0].tally)),
    )


def _part(entries: Sequence[TaskSummary]) -> str:
    """Return how much of the public dataset ran, if that was not all of it: what others published is about all."""
    samples = max(entry.tally.samples for entry in entries)
    whole = entries[0].info.whole
    return f"{samples:,} of {whole:,} samples" if whole is not None and samples < whole else ""


def _name(entry: TaskSummary, entries: Sequence[TaskSummary]) -> str:
    """Return what tells the entry from its neighbours: model, test function, both, or nothing."""
    parts = []
    if len({other.model for other in entries}) > 1:
        parts.append(clean(entry.model))
    if len({other.test for other in entries}) > 1:
        parts.append(clean(entry.test.rpartition("::")[2]))
    return " · ".join(parts) or "all"


def _figures(entries: Sequence[TaskSummary]) -> Block:
    """Return accuracy, scores, shares and counts, of each entry and its groups."""
    labels, tallies = [], []
    for entry in entries:
        labels.append(Label(text=_name(entry, entries)))
        tallies.append(entry.tally)
        several = len({group.key for group in entry.groups}) > 1
        for group in entry.groups:
            text = clean(f"{group.key} {group.value}" if several else group.value)
            labels.append(Label(text=text or numbers.NONE, indented=True))
            tallies.append(group.tally)
    units = [
        _accuracy(tallies),
        *_scores(tallies),
        *_shares(tallies),
        *_repeated(tallies),
        _counts(tallies),
    ]
    return Block(labels=tuple(labels), units=tuple(units))


def column_of(head: str, texts: Iterable[str], tone: Tone = "plain") -> Column:
    """Return a column of texts that are clean already."""
    return Column(head=head, cells=tuple(Cell(text=text, tone=tone) for text in texts))


def _column(
    head: str, tallies: Sequence[Tally], text: Callable[[Tally], str], tone: Tone = "plain"
) -> Column:
    return column_of(head, map(text, tallies), tone)


def _accuracy(tallies: Sequence[Tally]) -> tuple[Column, ...]:
    return (
        _column("accuracy", tallies, lambda tally: numbers.percent(tally.accuracy.value), "strong"),
        _column("95 %", tallies, lambda tally: metric_interval(tally.accuracy), "quiet"),
        _column(
            "scored", tallies, lambda tally: f"{tally.counts.scored:,} of {tally.counts.planned:,}"
        ),
    )


def metric_interval(mean: Mean) -> str:
    """Return a mean's 95 % interval in the form of its value: accuracy in per cent, a score in its scale."""
    if mean.name == "accuracy" and mean.low is not None and mean.high is not None:
        return numbers.interval(100 * mean.low, 100 * mean.high, 100)
    return numbers.interval(mean.low, mean.high, mean.scale)


def _scores(tallies: Sequence[Tally]) -> list[tuple[Column, ...]]:
    """Return a unit for each score; the first has its interval (all intervals stand in summary.json).

    A score that only repeats the accuracy (SLDP and judge say 0 or 1) has no column.
    """
    names = dict.fromkeys(
        mean.name for tally in tallies for mean in tally.scores if not repeats_accuracy(mean, tally)
    )
    units: list[tuple[Column, ...]] = []
    for name in names:
        means = [_named(tally.scores, name) for tally in tallies]
        head = next(metric_head(mean) for mean in means if mean is not None)
        value = Column(
            head=head, cells=tuple(_score_cell(*pair) for pair in zip(means, tallies, strict=True))
        )
        texts = [numbers.NONE if mean is None else metric_interval(mean) for mean in means]
        spread = column_of("95 %", texts, "quiet")
        units.append((value,) if units else (value, spread))
    return units


def repeats_accuracy(mean: Mean, tally: Tally) -> bool:
    """Whether a score only says in 0 and 1 what the accuracy says."""
    return mean.scale == 1 and (mean.value, mean.n) == (tally.accuracy.value, tally.accuracy.n)


def _named(means: Sequence[Mean], name: str) -> Mean | None:
    return next((mean for mean in means if mean.name == name), None)


def _score_cell(mean: Mean | None, tally: Tally) -> Cell:
    """Return the mean, with its n where that is not the accuracy's."""
    if mean is None:
        return Cell(text=numbers.NONE, tone="quiet")
    return Cell(text=numbers.score(mean.value, mean.scale) + _other_n(mean, tally))


def _other_n(mean: Mean, tally: Tally) -> str:
    return "" if mean.n == tally.accuracy.n else f" (n {mean.n:,})"


def _shares(tallies: Sequence[Tally]) -> list[tuple[Column, ...]]:
    units: list[tuple[Column, ...]] = []
    for name in dict.fromkeys(mean.name for tally in tallies for mean in tally.shares):
        means = [(_named(tally.shares, name), tally) for tally in tallies]
        texts = [
            numbers.NONE if mean is None else numbers.percent(mean.value) + _other_n(mean, tally)
            for mean, tally in means
        ]
        head = _NAMES.get(name, clean(name.replace("_", " ")))
        units.append((column_of(head, texts),))
    return units


def _repeated(tallies: Sequence[Tally]) -> list[tuple[Column, ...]]:
    """Return pass@k and pass^k for the largest k of any tally."""
    most = max((repeated.k for tally in tallies for repeated in tally.repeated), default=0)
    if not most:
        return []
    found = [next((one for one in tally.repeated if one.k == most), None) for tally in tallies]
    once = [numbers.percent(None if one is None else one.at_least_one) for one in found]
    every = [numbers.percent(None if one is None else one.every_one) for one in found]
    return [(column_of(f"pass@{most}", once), column_of(f"pass^{most}", every))]


def _counts(tallies: Sequence[Tally]) -> tuple[Column, ...]:
    counted = [tally.counts for tally in tallies]
    return (
        column_of("correct", [f"{counts.correct:,}" for counts in counted]),
        column_of("incorrect", [f"{counts.incorrect:,}" for counts in counted]),
        Column(head="error", cells=tuple(_trouble(counts.error) for counts in counted)),
        Column(head="unscored", cells=tuple(_trouble(counts.unscored) for counts in counted)),
        Column(head="not run", cells=tuple(_trouble(counts.not_run) for counts in counted)),
    )


def _trouble(number: int) -> Cell:
    """Return a count that should be 0."""
    return Cell(text=f"{number:,}", tone="warning" if number else "quiet")


def _use(entries: Sequence[TaskSummary]) -> Block:
    """Return tokens, cost and time of each entry, and what was cut, cached or run again if anything was."""
    tallies = [entry.tally for entry in entries]
    units = [
        (
            _column("tokens in", tallies, lambda tally: numbers.count(tally.usage.input_tokens)),
            _column("tokens out", tallies, lambda tally: numbers.count(tally.usage.output_tokens)),
        ),
        (
            _column(
                "cost",
                tallies,
                lambda tally: numbers.money(tally.usage.cost, at_least=tally.unpriced > 0),
            ),
        ),
        (
            _column("seconds", tallies, lambda tally: numbers.seconds(tally.seconds.total)),
            _column("median s", tallies, lambda tally: numbers.seconds(tally.seconds.median)),
            _column("p95 s", tallies, lambda tally: numbers.seconds(tally.seconds.p95)),
        ),
        (Column(head="cut", cells=tuple(_trouble(sum(tally.cut.values())) for tally in tallies)),),
    ]
    if any(tally.epochs > 1 for tally in tallies):
        units.append((_column("epochs", tallies, lambda tally: f"{tally.epochs}"),))
    if any(tally.cached for tally in tallies):
        units.append(
            (Column(head="cached", cells=tuple(_trouble(tally.cached) for tally in tallies)),)
        )
    if any(tally.engine_uncertain for tally in tallies):
        counts = tuple(_trouble(tally.engine_uncertain) for tally in tallies)
        units.append((Column(head="engine-uncertain", cells=counts),))
    if any(tally.reruns for tally in tallies):
        units.append(
            (Column(head="reruns", cells=tuple(_trouble(tally.reruns) for tally in tallies)),)
        )
    return Block(
        labels=tuple(Label(text=_name(entry, entries)) for entry in entries), units=tuple(units)
    )


def _taxonomy(entries: Sequence[TaskSummary]) -> Iterator[Block]:
    """Yield how many wrong answers fail in which way, if that was asked for."""
    asked = [entry for entry in entries if entry.tally.taxonomy]
    if asked:
        tallies = [entry.tally for entry in asked]
        heads = dict.fromkeys(label for tally in tallies for label in tally.taxonomy)
        columns = tuple(
            column_of(clean(head), [f"{tally.taxonomy.get(head, 0):,}" for tally in tallies])
            for head in heads
        )
        kinds = ", ".join(f"{kind} = {name}" for kind, name in ERROR_KINDS.items())
        labels = tuple(Label(text=_name(entry, entries)) for entry in asked)
        yield Block(
            title=f"wrong answers by kind of error: {kinds}", labels=labels, units=(columns,)
        )


def _judging(entries: Sequence[TaskSummary]) -> Iterator[Block]:
    """Yield who decided over judged answers, and how far judges agree: with labelled cases, each other, themselves."""
    judged = [(entry, entry.tally.judging) for entry in entries if entry.tally.judging is not None]
    if judged:
        labels = tuple(Label(text=_name(entry, entries)) for entry, _ in judged)
        found = [judging for _, judging in judged]
        heads = dict.fromkeys(
            ["symbolic", "judge", *(head for judging in found for head in judging.deciders)]
        )
        counts = [[f"{judging.deciders.get(head, 0):,}" for judging in found] for head in heads]
        units = [tuple(map(column_of, map(clean, heads), counts))]
        kappas: dict[str, Sequence[Calibrated | Agreement | None]] = {
            "judge's kappa": [judging.calibration for judging in found],
            "judges' kappa": [judging.agreement for judging in found],
            "votes' kappa": [judging.vote_agreement for judging in found],
        }
        units += [
            (
                column_of(
                    head,
                    [numbers.NONE if one is None else numbers.score(one.kappa, 1) for one in ones],
                ),
            )
            for head, ones in kappas.items()
            if any(ones)
        ]
        yield Block(title="answers decided by", labels=labels, units=tuple(units))


def _literature(info: TaskInfo, tally: Tally) -> Iterator[Block]:
    """Yield the published figures, a block for each source, in the columns that the run has too."""
    means = {metric_name(mean.name): mean for mean in (tally.accuracy, *tally.scores)}
    for source in dict.fromkeys(figure.source for figure in info.published):
        figures = [
            figure
            for figure in info.published
            if figure.source == source and figure.metric in means
        ]
        names = tuple(dict.fromkeys(figure.name for figure in figures))
        units = []
        for metric in dict.fromkeys(figure.metric for figure in figures):
            values = {figure.name: figure.value for figure in figures if figure.metric == metric}
            texts = [metric_value(values.get(name), means[metric]) for name in names]
            units.append((column_of(metric_head(means[metric]), texts, "quiet"),))
        if units:
            labels = tuple(Label(text=clean(name), indented=True) for name in names)
            yield Block(
                title=f"published: {clean(source, _SOURCE_LIMIT)}",
                labels=labels,
                units=tuple(units),
            )


def metric_value(value: float | None, metric: Mean | Change) -> str:
    """Return a value of a metric: accuracy in per cent, a score in its scale."""
    return (
        numbers.percent(value) if metric.name == "accuracy" else numbers.score(value, metric.scale)
    )


def metric_head(metric: Mean | Change) -> str:
    """Return what a metric is called, with its scale."""
    return "accuracy" if metric.name == "accuracy" else f"{clean(metric.name)} 0–{metric.scale:g}"


def _notes(entries: Sequence[TaskSummary]) -> tuple[str, ...]:
    said = []
    for entry in entries:
        name = _name(entry, entries)
        if entry.tally.cut:
            reasons = ", ".join(
                f"{clean(reason)} {number:,}" for reason, number in entry.tally.cut.items()
            )
            said.append(f"{name}: cut replies: {reasons}.")
        if entry.tally.engine_uncertain:
            said.append(
                f"{name}: engine-uncertain rows: {entry.tally.engine_uncertain:,}; Neo4j might have answered their "
                "queries otherwise than the embedded engine."
            )
        said += [f"{name}: {line}" for line in _calibration(entry.tally.judging)]
        said += [
            f"{name}: accuracy takes {one.ratio:.2f} × the samples of {clean(one.name)} for the same relative error "
            f"({100 * (one.ratio - 1):+.0f} %, n = {one.n:,})."
            for one in entry.tally.efficiency
        ]
        said += [
            f"{name}: mixed rows: {clean(what)} is {' and '.join(map(clean, versions))}."
            for what, versions in entry.versions.items()
            if len(versions) > 1
        ]
    return tuple(said)


def _calibration(judging: Judging | None) -> Iterator[str]:
    """Yield what is known of the judges that were asked."""
    if judging is None or not judging.judges:
        return
    judges = " and ".join(map(clean, judging.judges))
    if (found := judging.calibration) is None:
        yield f"judged by {judges}, which is not calibrated for this (llmeval calibrate)."
        return
    yield (
        f"judged by {judges}: kappa {numbers.score(found.kappa, 1)} "
        f"(95 % {numbers.interval(found.kappa_low, found.kappa_high, 1)}) on {found.n:,} labelled cases, "
        f"{found.false_positives:,} wrong ones let pass, {found.unscored:,} unscored ({clean(found.prompt)}, "
        f"{clean(found.made)})."
    )
