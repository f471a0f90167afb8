"""``pipelines.csv``: what became of each sample in each pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_llmeval.records import Row
from pytest_llmeval.report.csv_line import Value, csv_line
from pytest_llmeval.results.matrix import Contender
from pytest_llmeval.results.means import property_of
from pytest_llmeval.results.pipelines import Pipelines


def pipeline_lines(found: Sequence[Pipelines]) -> Iterator[str]:
    """Yield a line for each model, sample and epoch.

    Each pipeline has a column with its outcome, called by the task (and the test function if
    several ran it), and one for each share that its task declares: ``TASK:NAME``. They are
    empty where the pipeline did not ask the sample.
    """
    shares = {
        name: one.info.shares
        for of_model in found
        for name, one in _named(of_model.matrix.contenders).items()
    }
    heads = [head for name in shares for head in (name, *_share_heads(name, shares[name]))]
    yield csv_line(("model", "sample", "epoch", "tags", "target", *heads))
    for of_model in found:
        names = list(_named(of_model.matrix.contenders))
        for sample in of_model.samples:
            rows = dict(zip(names, sample.rows, strict=True))
            tags = "; ".join(sample.tags)
            for epoch in sample.epochs:
                cells = [
                    cell
                    for name, keys in shares.items()
                    for cell in _cells(rows.get(name, {}).get(epoch), keys)
                ]
                facts = (of_model.model, sample.id, epoch, tags, sample.target_text)
                yield csv_line((*facts, *cells))


def _share_heads(name: str, keys: Sequence[str]) -> list[str]:
    return [f"{name}:{key}" for key in keys]


def _cells(row: Row | None, keys: Sequence[str]) -> list[Value]:
    if row is None:
        return [""] * (1 + len(keys))
    return [row.outcome, *(property_of(row, key) for key in keys)]


def _named(contenders: Sequence[Contender]) -> Mapping[str, Contender]:
    places = [one.place for one in contenders]
    tasks = [place.task for place in places]
    return {
        place.task if tasks.count(place.task) == 1 else f"{place.task} {place.test}": one
        for place, one in zip(places, contenders, strict=True)
    }
