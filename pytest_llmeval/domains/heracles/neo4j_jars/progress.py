"""The progress of an installation: a bar on a terminal, a few lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from pytest_llmeval.domains.heracles.neo4j_jars.install import Progress

_STEP = 0.2
_MEGABYTE = 1_000_000


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Yield what shows the progress on standard error."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    if not console.is_terminal:
        yield _lines(console)
        return
    columns = (TextColumn("Neo4j"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Neo4j", visible=False)
        yield Progress(
            tell=console.print,
            begin=lambda total: bar.update(task, total=total, visible=total > 0),
            fetched=lambda count: bar.advance(task, count),
        )


def _lines(console: Console) -> Progress:
    """Return what prints a line for each fifth that has come."""
    total, held, told = 0, 0, 0.0

    def begin(count: int) -> None:
        nonlocal total
        total = count
        if total:
            console.print(f"fetching {total / _MEGABYTE:.0f} MB of Neo4j")

    def fetched(count: int) -> None:
        nonlocal held, told
        held += count
        if held >= (told + _STEP) * total:
            told = held / total
            console.print(f"{held / _MEGABYTE:.0f} of {total / _MEGABYTE:.0f} MB of Neo4j")

    return Progress(tell=console.print, begin=begin, fetched=fetched)
