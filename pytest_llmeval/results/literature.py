"""Published figures, read from a YAML file that a task names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_llmeval.files.yaml import read_text
from pytest_llmeval.records import Json
from pytest_llmeval.results.checked import Checked
from pytest_llmeval.results.task_info import Published, metric_name

MAX_BYTES = 1_000_000
"""Largest file of figures that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Literature:
    """Published figures, and the datasets that they are about.

    Attributes:
        datasets: number of samples by the sha256 of the dataset file's bytes; None if not given.
        sources: addresses that files are fetched from, each with the sha256 of the file's bytes.
        figures: the figures.
    """

    datasets: Mapping[str, int | None] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[Published, ...] = ()


def load_literature(path: Path) -> Literature:
    """Return the figures in a YAML file; TaskError names file, line and key of what is wrong.

    ``datasets`` maps names to digests, or to ``{sha256, samples, source}``; the last is an address
    that ``llmeval fetch`` downloads the file from. ``figures`` is a list of mappings with the keys
    ``source`` and ``values``, which maps a name to its figures by metric (accuracy in 0..1, scores
    in their own scale).
    """
    document = Checked.parse(read_text(path, max_bytes=MAX_BYTES), path)
    top = document.mapping([], document.root, ("datasets", "figures"))
    datasets = document.mapping(["datasets"], top.get("datasets", {}))
    figures = top.get("figures", [])
    if not isinstance(figures, list):
        document.refuse(["figures"], f"expected a list, not {figures!r}")
    return Literature(
        datasets=dict(_dataset(document, name, body) for name, body in datasets.items()),
        sources={
            str(body["source"]): str(body.get("sha256", ""))
            for body in datasets.values()
            if isinstance(body, dict) and "source" in body
        },
        figures=tuple(
            figure
            for place, body in enumerate(figures)
            for figure in _figures(document, place, body)
        ),
    )


def _dataset(document: Checked, name: str, body: Json) -> tuple[str, int | None]:
    if not isinstance(body, dict):
        return str(body), None
    path = ("datasets", name)
    found = document.mapping(path, body, ("sha256", "samples", "source"))
    samples = document.number((*path, "samples"), found.get("samples", 0), "samples")
    if samples < 1 or samples % 1:
        document.refuse(
            (*path, "samples"), f"expected the number of samples, not {found.get('samples')!r}"
        )
    return str(found.get("sha256", "")), int(samples)


def _figures(document: Checked, place: int, body: Json) -> Iterator[Published]:
    path: tuple[str | int, ...] = ("figures", place)
    entry = document.mapping(path, body, ("source", "values"))
    source = entry.get("source", "")
    if not isinstance(source, str) or not source:
        document.refuse((*path, "source"), "every figure needs its source")
    for name, values in document.mapping((*path, "values"), entry.get("values", {})).items():
        for metric, value in document.mapping((*path, "values", name), values).items():
            number = document.number((*path, "values", name, metric), value, metric_name(metric))
            yield Published(name=name, metric=metric_name(metric), value=number, source=source)
