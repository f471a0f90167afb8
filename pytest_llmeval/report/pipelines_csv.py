"""``pipelines.csv``: what became of each sample in each pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.report.csv_line import csv_line
from pytest_llmeval.results.pipelines import Pipelines


def pipeline_lines(found: Sequence[Pipelines]) -> Iterator[str]:
    """Yield a line for each model, sample and epoch, with a column for each pipeline.

    The column is called by the task; by task and test function if several ran it. It is empty where
    the pipeline did not ask the sample.
    """
    columns = list(dict.fromkeys(name for one in found for name in _names(one)))
    yield csv_line(("model", "sample", "epoch", "tags", "target", *columns))
    for one in found:
        names = _names(one)
        for sample in one.samples:
            for epoch in sorted({number for of_one in sample.outcomes for number in of_one}):
                by_name: dict[str, str] = {
                    name: outcomes.get(epoch, "")
                    for name, outcomes in zip(names, sample.outcomes, strict=True)
                }
                cells = [by_name.get(name, "") for name in columns]
                tags = "; ".join(sample.tags)
                yield csv_line((one.model, sample.id, epoch, tags, sample.target, *cells))


def _names(found: Pipelines) -> list[str]:
    places = [one.place for one in found.matrix.contenders]
    tasks = [place.task for place in places]
    return [
        place.task if tasks.count(place.task) == 1 else f"{place.task} {place.test}"
        for place in places
    ]
