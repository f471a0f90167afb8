"""What an export is: a function from a run to the files of another tool's form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from pytest_llmeval.results.run import Run


class ExportFile(NamedTuple):
    """A file to write: its path below the export's folder, and its text in parts."""

    name: str
    parts: Iterable[str]


class Benchmark(NamedTuple):
    """A leaderboard of the Hugging Face hub.

    Attributes:
        dataset: ``OWNER/NAME`` of the dataset that has it.
        task: its name there, of several.
        revision: of the dataset; "" where it is not told.
    """

    dataset: str
    task: str = "default"
    revision: str = ""


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What an export is made of.

    Attributes:
        run: the run.
        benchmarks: by the name of a task, the leaderboard that it belongs to.
    """

    run: Run
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)

    @property
    def started(self) -> datetime:
        """When the run began."""
        return datetime.fromisoformat(str(self.run.info["started"])).astimezone(UTC)


class Export(Protocol):
    """A form of results. Nothing is read or written before a file's parts are asked for."""

    def __call__(self, exported: Exported, /) -> Iterator[ExportFile]:
        """Yield the files; UsageError if the run cannot be written in this format."""
        ...


def file_name(text: str) -> str:
    """Return a text as the name of a file: letters, digits, dots and dashes."""
    return re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.") or "unnamed"


def file_names(texts: Iterable[str]) -> list[str]:
    """Return a file's name for each text, no two alike, also where letters have no case."""
    taken: dict[str, str] = {}
    for text in texts:
        base = name = file_name(text)
        number = 1
        while name.lower() in taken:
            number += 1
            name = f"{base}-{number}"
        taken[name.lower()] = name
    return list(taken.values())
