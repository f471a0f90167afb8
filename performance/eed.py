"""Measure EED: CPU seconds a pair, the effect of each optimization, and of several processes.

Every variant runs in a separate process, warmed up, over the same pairs. For comparison: the public
reference (phybench-official/phybench d9db3ec) takes 0.52 CPU seconds a pair, cold, on average over
the conformance pairs.

    python performance/eed.py [--pairs FILE] [--every N] [--only NAME] [--json FILE]
    python performance/eed.py --processes 1 2 [--pairs FILE] [--every N]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the package of this checkout

from pytest_llmeval.scoring.eed import Mode, eed_score_many  # noqa: E402 - after the path is set

if TYPE_CHECKING:
    import sympy

    from pytest_llmeval.scoring.eed.published.published import ReadTarget
    from pytest_llmeval.scoring.eed.time_limit import TimeLimit

SHARED = Path(os.environ.get("LLMEVAL_SHARED", ROOT.parent / "shared"))
REFERENCE_SECONDS = 0.52
NANOSECONDS = 1e9


class Variant(NamedTuple):
    """A mode without some of its optimizations."""

    mode: Mode
    points: str = "all"  # what random points decide: nothing, refute (inequality only), all
    alike: bool = True  # an answer that reads as its target is not simplified again (published)
    targets: bool = True  # targets are cached in memory


VARIANTS = {
    "published, plain": Variant("published", points="nothing", alike=False, targets=False),
    "+ refuting at points": Variant("published", alike=False, targets=False),
    "+ target cache": Variant("published", alike=False),
    "published": Variant("published"),
    "corrected, plain": Variant("corrected", points="nothing", targets=False),
    "+ refuting at points ": Variant("corrected", points="refute", targets=False),
    "corrected": Variant("corrected"),
}


def main() -> None:
    """Print a table, or measure one variant and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=Path, default=SHARED / "conformance" / "eed.jsonl")
    parser.add_argument("--every", type=int, default=1, help="take every N-th pair")
    parser.add_argument(
        "--only", choices=["published", "corrected"], help="measure this mode alone"
    )
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument(
        "--processes",
        type=int,
        nargs="+",
        help="measure eed_score_many with these numbers of children instead",
    )
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    pairs = [json.loads(line) for line in options.pairs.read_text().splitlines()][:: options.every]
    if options.variant:
        print(json.dumps(measured(VARIANTS[options.variant], pairs)))
    elif options.processes:
        compare_processes(pairs, options)
    else:
        compare_variants(pairs, options)


def compare_variants(pairs: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the figures of all variants; `changed` counts scores that differ from the mode's."""
    wanted = {
        name: variant for name, variant in VARIANTS.items() if options.only in (None, variant.mode)
    }
    figures = {name: in_child(name, options) for name in wanted}
    print(f"{len(pairs)} pairs; CPU seconds a pair; the reference: {REFERENCE_SECONDS}")
    print(
        f"{'variant':<24}{'mean':>9}{'median':>9}{'p99':>9}{'faster':>9}{'equal':>8}{'changed':>9}"
    )
    for name, figure in figures.items():
        changed = sum(
            differ(*two)
            for two in zip(figure["scores"], figures[wanted[name].mode]["scores"], strict=True)
        )
        faster = f"{REFERENCE_SECONDS / figure['mean']:.1f}x"
        print(f"{name:<24}{figure['mean']:>9.4f}{figure['median']:>9.4f}{figure['p99']:>9.3f}"
              f"{faster:>9}{figure['equal']:>8}{changed:>9}")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


def in_child(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one variant in a fresh process."""
    command = [sys.executable, __file__, "--variant", name, "--pairs", str(options.pairs)]
    run = subprocess.run(
        [*command, "--every", str(options.every)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    figures: dict[str, Any] = json.loads(run.stdout)
    return figures


def measured(variant: Variant, pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the CPU seconds and scores of one variant."""
    # The parent needs no sympy.
    from pytest_llmeval.scoring.eed import corrected  # noqa: PLC0415
    from pytest_llmeval.scoring.eed.published import published  # noqa: PLC0415
    from pytest_llmeval.scoring.eed.scoring import score_pair  # noqa: PLC0415
    from pytest_llmeval.scoring.eed.time_limit import cpu_timer  # noqa: PLC0415
    from pytest_llmeval.scoring.eed.value import numeric  # noqa: PLC0415

    compare, read_answer = numeric.compare, published.read_answer

    def points(one: sympy.Basic, other: sympy.Basic) -> bool | None:
        # In place of numeric.compare.
        if variant.points == "nothing":
            return None
        found = compare(one, other)
        return None if found and variant.points == "refute" else found

    def simplified_again(text: str, target: ReadTarget, limit: TimeLimit) -> sympy.Basic:
        # In place of published.read_answer.
        return read_answer(text, target if variant.alike else target._replace(read=None), limit)

    score_pair(r"\frac{a}{b}+\sin x", r"\frac{a}{c}+\sin x", mode=variant.mode)
    seconds, scores = [], []
    with (
        patch.object(numeric, "compare", points),
        patch.object(published, "read_answer", simplified_again),
    ):
        for pair in pairs:
            if not variant.targets:
                published.read_target.cache_clear()
                corrected.read_target.cache_clear()
                corrected.simplified.cache_clear()
            start = time.process_time()
            result = score_pair(
                pair["answer"], pair["target"], mode=variant.mode, time_limit=cpu_timer
            )
            seconds.append(time.process_time() - start)
            scores.append(result.score)
    return {
        "mean": statistics.fmean(seconds),
        "median": statistics.median(seconds),
        "p99": statistics.quantiles(seconds, n=100)[98],
        "equal": scores.count(100.0),
        "scores": scores,
    }


def differ(one: float, other: float) -> bool:
    """Return whether two scores differ."""
    return abs(one - other) > 1e-6


def compare_processes(pairs: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the times with several children, with and without waiting for other processes.

    The answers to every second target warm the children up, whose parsers build tables for new
    formulas; the answers to the others are measured.
    """
    targets = list(dict.fromkeys(pair["target"] for pair in pairs))
    texts = [(pair["answer"], pair["target"]) for pair in pairs]
    warming = [text for text in texts if text[1] in targets[::2]]
    measured = [text for text in texts if text[1] in targets[1::2]]
    print(f"{len(measured)} pairs, {options.only or 'corrected'}; times in seconds")
    heads = ("processes", "wall", "CPU", "waited", "parent", "faster", "quiet wall", "faster")
    widths = (9, 8, 8, 8, 8, 8, 12, 8)
    print("".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)))
    first = None
    for processes in options.processes:
        found = with_processes([*warming, *measured], len(warming), processes, options)
        first = first or found
        cells = (
            processes,
            f"{found.wall:.1f}",
            f"{found.cpu:.1f}",
            f"{found.waited:.1f}",
            f"{found.parent:.2f}",
            f"{first.wall / found.wall:.2f}x",
            f"{found.quiet:.1f}",
            f"{first.quiet / found.quiet:.2f}x",
        )
        print("".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)))


class Many(NamedTuple):
    """Seconds of one pass of eed_score_many; 0 for children where the system has no figures."""

    wall: float
    cpu: float  # of the children
    waited: float  # mean wait of a working child for a core
    parent: float  # CPU of this process
    quiet: float  # wall time without waiting


class Clocks(NamedTuple):
    """The clocks at one moment, in seconds."""

    wall: float
    parent: float
    children: dict[int, tuple[float, float]]  # running and waiting time by process id


def with_processes(
    texts: list[tuple[str, str]], warming: int, processes: int, options: argparse.Namespace
) -> Many:
    """Score all pairs in this number of children; measure from the `warming`-th pair on."""
    readings: list[Clocks] = []

    def read_clocks(done: int) -> None:
        if done in (warming, len(texts)):
            readings.append(Clocks(time.perf_counter(), time.process_time(), run_and_waited()))

    mode: Mode = options.only or "corrected"
    for _ in eed_score_many(texts, processes=processes, mode=mode, progress=read_clocks):
        pass
    start, end = readings
    spent = [
        (
            run - start.children.get(pid, (0.0, 0.0))[0],
            waited - start.children.get(pid, (0.0, 0.0))[1],
        )
        for pid, (run, waited) in end.children.items()
    ]
    working = sorted(spent, reverse=True)[:processes]  # spare children have run less
    waited = sum(waits for _, waits in working) / processes
    wall = end.wall - start.wall
    return Many(
        wall, sum(run for run, _ in spent), waited, end.parent - start.parent, wall - waited
    )


def run_and_waited() -> dict[int, tuple[float, float]]:
    """Return each living child's running and waiting time (Linux: /proc/PID/schedstat)."""
    pids = [
        int(pid)
        for task in Path("/proc/self/task").glob("*/children")
        for pid in task.read_text().split()
    ]
    found = {}
    for pid in pids:
        with suppress(OSError):  # ended meanwhile
            run, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
            found[pid] = (int(run) / NANOSECONDS, int(waited) / NANOSECONDS)
    return found


if __name__ == "__main__":
    main()
