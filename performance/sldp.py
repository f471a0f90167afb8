"""Measure SLDP: CPU seconds of parsing and equality at three sizes, as a table and a JSON line.

Run from the checkout: ``python performance/sldp.py [--quick]``. A growth of 10 from one size to the
next is linear. Each pair is equal but written differently (other order, other case, numbers shifted
within the tolerance), so that comparing it cannot end early.
"""

from __future__ import annotations

import gc
import json
import platform
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_llmeval.scoring.sldp import parse_sldp, sldp_equals

Item = TypeVar("Item")

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 3
TARGETS_MS = {"strings": 30, "numbers": 30, "dict": 60, "points": 200}
"""CPU milliseconds that equality at 10,000 elements may take, without parsing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """CPU seconds for one kind of value at one size, the least of ROUNDS."""

    kind: str
    size: int
    parse: float
    equal: float


def _strings(size: int, noise: random.Random) -> tuple[list[str], list[str]]:
    names = [f"O{number}" for number in range(size)]
    return names, [name.lower() for name in _shuffled(names, noise)]


def _numbers(size: int, noise: random.Random) -> tuple[list[str], list[str]]:
    places = [noise.uniform(-1000, 1000) for _ in range(size)]
    return [f"{place:.4f}" for place in places], [
        _near(place, noise) for place in _shuffled(places, noise)
    ]


def _entries(size: int, noise: random.Random) -> tuple[list[str], list[str]]:
    names = [(f"O{number}", number) for number in range(size)]
    return [f"{k}: {v}" for k, v in names], [
        f"{k.lower()}: {v}.001" for k, v in _shuffled(names, noise)
    ]


def _points(size: int, noise: random.Random) -> tuple[list[str], list[str]]:
    places = [
        [noise.uniform(-30, 30), noise.uniform(-30, 30), noise.uniform(0, 5)] for _ in range(size)
    ]
    exact = [f"POINT({' '.join(f'{number:.4f}' for number in place)})" for place in places]
    return exact, [
        f"POINT({' '.join(_near(n, noise) for n in place)})" for place in _shuffled(places, noise)
    ]


def _rows(size: int, noise: random.Random) -> tuple[list[str], list[str]]:
    exact, moved = _points(size, noise)
    return [f"[room, {point}]" for point in exact], [f"[Room, {point}]" for point in moved]


def _sets(size: int, noise: random.Random) -> tuple[list[str], list[str]]:
    exact, _ = _points(size, noise)
    groups = [(point, f"<{number}, {number + 0.5}>") for number, point in enumerate(exact)]
    return [f"<{a}, {b}>" for a, b in groups], [f"<{b}, {a}>" for a, b in _shuffled(groups, noise)]


KINDS: dict[str, tuple[str, Callable[[int, random.Random], tuple[list[str], list[str]]]]] = {
    "strings": ("<>", _strings),
    "numbers": ("<>", _numbers),
    "dict": ("{}", _entries),
    "points": ("<>", _points),
    "lists with points": ("<>", _rows),
    "sets of sets": ("<>", _sets),
}


def _shuffled(items: list[Item], noise: random.Random) -> list[Item]:
    return noise.sample(items, len(items))


def _near(number: float, noise: random.Random) -> str:
    return f"{number + noise.uniform(-0.004, 0.004):.4f}"


def _measure(kind: str, size: int) -> Measured:
    brackets, make = KINDS[kind]
    noise = random.Random(size)  # noqa: S311 - seeded: the same texts in every run
    answer, solution = (
        f"{brackets[0]}{', '.join(part)}{brackets[1]}" for part in make(size, noise)
    )
    value, other = parse_sldp(answer), parse_sldp(solution)
    if not sldp_equals(value, other):
        message = f"{kind} at {size}: the pair is not equal, so there is nothing to measure"
        raise RuntimeError(message)
    parse = _best(lambda: parse_sldp(answer))
    return Measured(
        kind=kind, size=size, parse=parse, equal=_best(lambda: sldp_equals(value, other))
    )


def _best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def _report(results: list[Measured]) -> None:
    heads = ("elements", "parse ms", "growth", "equal ms", "growth", "target")
    widths = (9, 10, 8, 10, 8, 8)
    print(f"{'kind':18}" + "".join(f"{h:>{w}}" for h, w in zip(heads, widths, strict=True)))
    before: Measured | None = None
    for one in results:
        same = before if before is not None and before.kind == one.kind else None
        growth = (
            [f"{one.parse / same.parse:.1f}", f"{one.equal / same.equal:.1f}"] if same else ["", ""]
        )
        target = TARGETS_MS.get(one.kind, "") if one.size == 10_000 else ""
        print(
            f"{one.kind:18}{one.size:>9,}{1e3 * one.parse:>10.1f}{growth[0]:>8}"
            f"{1e3 * one.equal:>10.1f}{growth[1]:>8}{target:>8}"
        )
        before = one


def main() -> None:
    """Measure all kinds at all sizes and print the results."""
    sizes = SIZES[:2] if "--quick" in sys.argv[1:] else SIZES
    results = [_measure(kind, size) for kind in KINDS for size in sizes]
    _report(results)
    figures = [
        {"kind": r.kind, "elements": r.size, "parse_s": r.parse, "equal_s": r.equal}
        for r in results
    ]
    print(json.dumps({"measure": "sldp", "python": platform.python_version(), "results": figures}))


if __name__ == "__main__":
    main()
