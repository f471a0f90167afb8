"""An hour of faults: sessions that are killed, starved and cut off, over many samples.

    python performance/soak.py                # `make soak`: 60 minutes, 20,000 samples
    python performance/soak.py --minutes 5 --samples 1000 --seed 7

Sessions of plain pytest run parts of the samples on a model server of our own, which keeps a ledger
of every request. Each session meets faults that a seed draws (`soak_faults.py`) and is resumed,
until all samples of its part have their outcome. Then rows, stores and the ledger are compared.
Prints a line a session, and a table with the verdict; the exit status is 1 on any breach. Linux
alone: it asks /proc for processes, and limits files of running ones. docs/soak.md has more.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from soak_check import Books, stored_prompts
from soak_faults import Clock, ModelServer, drawn_strikes
from soak_ledger import LedgerReader
from soak_memory import memory_breaches, memory_lines
from soak_processes import adopt_orphans
from soak_project import Part, write_part
from soak_rows import part_breaches, run_folders, unfinished
from soak_session import CONCURRENCY, Bench, Ended, run_session

PART: Final = 2_000
"""Samples of a part, at most."""

GRAPH_EVERY: Final = 5
"""Of so many parts one is of graph samples."""

STUBBORN_EVERY: Final = 4
"""Of so many parts one has poison that is sent again and again, which takes half a minute."""

DISTURBED: Final = 0.65
"""Share of a part's time in which its sessions meet faults; the rest is for coming to its end."""

CALM_SESSIONS: Final = 4
"""Sessions without faults after which a part that is not finished counts as stuck."""

WITH_WORKERS: Final = 0.4
"""Share of the sessions with two workers."""

USUAL_STATUSES: Final = frozenset({0, 1, 2, -2, -9, -15})
"""Exit statuses of a session that passed, failed, was interrupted, or died of a signal of ours."""


@dataclass(kw_only=True)
class Soak:
    """The soak: its bench, and what it has found so far."""

    bench: Bench
    books: dict[str, Books] = field(default_factory=dict)
    sessions: list[Ended] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)
    samples: int = 0

    def run_part(self, part: Part, seconds: float) -> None:
        """Run a part to its end, with faults in the first share of its time."""
        began, calm = time.monotonic(), 0
        self.books[part.name] = Books(in_flight=CONCURRENCY)
        while calm < CALM_SESSIONS:
            disturbed = time.monotonic() - began < DISTURBED * seconds
            calm += not disturbed
            self._run_session(part, disturbed=disturbed)
            if not disturbed and not unfinished(part):
                break
        self.samples += len(part.expected)
        self.breaches += part_breaches(part)

    def _run_session(self, part: Part, *, disturbed: bool) -> None:
        draw = self.bench.draw
        workers = draw.random() < WITH_WORKERS
        books = self.books[part.name]
        unpaid = part.requests - len(books.stored)
        strikes = drawn_strikes(draw, part, unpaid=unpaid, workers=workers) if disturbed else ()
        log = self.bench.folder / f"session-{len(self.sessions):03}.log"
        ended = run_session(self.bench, part, log, workers=workers, strikes=strikes)
        self.sessions.append(ended)
        known = len(books.breaches)
        stored: set[str] = set().union(*map(stored_prompts, run_folders(part)))
        books.add(ended.entries, stored, faults=[one.split()[0] for one in ended.strikes])
        found = [*books.breaches[known:], *_session_breaches(ended)]
        self.breaches += [f"{log.stem} ({part.name}): {one}" for one in found]
        asked = sum(entry.kind == "asked" for entry in ended.entries)
        told = ", ".join(ended.strikes) or "-"
        workers_said = "-n2" if workers else "-n0"
        print(
            f"{log.stem} {part.name} {workers_said} {ended.seconds:5.0f} s, status {ended.status},"
            f" {asked} requests, {ended.rows} rows, {len(stored)} stored, {ended.peak:.0f} MB;"
            f" {told}",
            *(f"  BREACH {one[:300]!r}" for one in found[:5]),
            sep="\n",
            flush=True,
        )
        ended.entries.clear()


def _session_breaches(ended: Ended) -> Iterator[str]:
    yield from (f"left behind: {one[:200]}" for one in ended.left)
    yield from (f"printed {one[:200]!r}" for one in ended.alarms)
    if ended.hung:
        yield "it did nothing for minutes, and was killed"
    elif ended.status not in USUAL_STATUSES:
        yield f"it ended with status {ended.status}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak, print its verdict, and return the exit status."""
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="llmeval-soak-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        adopt_orphans()
        ledger = folder / "ledger.jsonl"
        server = ModelServer(ledger, options.seed)
        try:
            bench = Bench(
                folder=folder,
                server=server,
                clock=Clock(folder / "clock"),
                ledger=LedgerReader(ledger),
                draw=random.Random(options.seed),  # noqa: S311 - no secret
            )
            soak, began = Soak(bench=bench), time.monotonic()
            _run_parts(soak, options)
        finally:
            server.close()
    return _verdict(soak, time.monotonic() - began, options)


def _run_parts(soak: Soak, options: argparse.Namespace) -> None:
    """Run parts until all samples have their outcome and the time is over."""
    size = min(PART, max(1, options.samples // 2))
    planned = -(-options.samples // size)
    usual = options.minutes * 60 / planned
    end, number = time.monotonic() + options.minutes * 60, 0
    while soak.samples < options.samples or end - time.monotonic() > usual:
        graph = options.graph and number % GRAPH_EVERY == 1
        name = f"{'graph' if graph else 'plain'}{number:02}"
        stubborn = number % STUBBORN_EVERY == STUBBORN_EVERY - 1
        part = write_part(
            soak.bench.folder, name, size, graph=graph, stubborn=stubborn, seed=options.seed
        )
        left = end - time.monotonic()
        soak.run_part(part, min(left / max(1, planned - number), left))
        number += 1


def _verdict(soak: Soak, seconds: float, options: argparse.Namespace) -> int:
    """Print the table and return the exit status."""
    books = [*soak.books.values()]
    faults = sum((one.faults for one in books), Counter[str]())
    strikes = Counter(one.split()[0] for ended in soak.sessions for one in ended.strikes)
    breaches = [*soak.breaches, *memory_breaches(soak.sessions)]
    figures: dict[str, Any] = {
        "minutes": round(seconds / 60, 1),
        "seed": options.seed,
        "samples": soak.samples,
        "sessions": len(soak.sessions),
        "faults of sessions": dict(strikes.most_common()),
        "faults of single requests": dict(faults.most_common()),
        "requests": sum(one.asked for one in books),
        "replies paid": sum(one.paid.total() for one in books),
        "of them cut by an end": sum(one.cut.total() for one in books),
        "of them paid again": sum(one.repeated for one in books),
        "prompts stored": sum(len(one.stored) for one in books),
        "seconds of a session, median": round(
            statistics.median(ended.seconds for ended in soak.sessions), 1
        ),
        "memory": memory_lines(soak.sessions),
        "breaches": len(breaches),
    }
    print()
    for name, value in figures.items():
        print(f"{name:30} {value}")
    for breach in breaches[:50]:
        print(f"BREACH {breach[:400]!r}")
    if options.json is not None:
        options.json.write_text(json.dumps({**figures, "breaches": breaches}, indent=1) + "\n")
    print("verdict: " + ("BROKEN" if breaches else "nothing lost, nothing paid twice, memory flat"))
    return 1 if breaches else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="how long, at least")
    parser.add_argument("--samples", type=int, default=20_000, help="how many, at least")
    parser.add_argument("--seed", type=int, default=1, help="draws samples, faults and moments")
    parser.add_argument(
        "--folder", type=Path, help="keeps all files there, in place of a temporary folder"
    )
    parser.add_argument("--json", type=Path, help="writes the figures there")
    parser.add_argument(
        "--no-graph", dest="graph", action="store_false", help="without samples of a graph database"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
