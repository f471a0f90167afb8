"""CPU seconds of the expression edit distance a pair, what each saving brings, and what several processes bring.

Every variant runs in a process of its own, warmed up, over the same pairs. The yardstick is the
public reference (phybench-official/phybench d9db3ec), measured cold over the conformance pairs:
0.52 CPU seconds a pair.

    python performance/eed.py [--pairs FILE] [--every N] [--only NAME] [--json FILE]
    python performance/eed.py --processes 1 2 [--pairs FILE] [--every N] [--cache FOLDER]
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
from typing import Any, NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the package of this checkout

from pytest_llmeval.scoring.eed import eed_score_many  # noqa: E402 - found by the line above

SHARED = Path(os.environ.get("LLMEVAL_SHARED", ROOT.parent / "shared"))
REFERENCE_SECONDS = 0.52
NANOSECONDS = 1e9


class Variant(NamedTuple):
    """A mode without some of its savings."""

    mode: str
    points: str = "all"  # what random points may do: nothing, refute, all
    alike: bool = True  # an answer that reads as its target is not simplified again (published)
    targets: bool = True  # targets are remembered


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
        help="measure eed_score_many with so many children instead",
    )
    parser.add_argument(
        "--cache", type=Path, help="with --processes: keep simplified targets in this folder"
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
    """Print what each saving brings; `changed` counts scores that are not the mode's."""
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
    return json.loads(run.stdout)


def measured(variant: Variant, pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the CPU seconds and scores of one variant."""
    from pytest_llmeval.scoring.eed import corrected, numeric, published  # noqa: PLC0415 - the parent needs no sympy
    from pytest_llmeval.scoring.eed.scoring import score_pair  # noqa: PLC0415 - as above
    from pytest_llmeval.scoring.eed.stages import cpu_timer  # noqa: PLC0415 - as above

    compare, read_answer = numeric.compare, published.read_answer

    def points(one, other):  # noqa: ANN001, ANN202 - stands in for numeric.compare
        if variant.points == "nothing":
            return None
        found = compare(one, other)
        return None if found and variant.points == "refute" else found

    def simplified_anew(text, target, stage):  # noqa: ANN001, ANN202 - stands in for published.read_answer
        return read_answer(text, target if variant.alike else target._replace(read=None), stage)

    score_pair(r"\frac{a}{b}+\sin x", r"\frac{a}{c}+\sin x", mode=variant.mode)
    seconds, scores = [], []
    with (
        patch.object(numeric, "compare", points),
        patch.object(published, "read_answer", simplified_anew),
    ):
        for pair in pairs:
            if not variant.targets:
                published.read_target.cache_clear()
                corrected.read_target.cache_clear()
                corrected.simplified.cache_clear()
                corrected.simplified_target.cache_clear()
            start = time.process_time()
            result = score_pair(pair["answer"], pair["target"], mode=variant.mode, stage=cpu_timer)
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
    """Tell whether two scores are not the same."""
    return abs(one - other) > 1e-6


def compare_processes(pairs: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print what several children bring, on this machine as it is and as if nobody else had used it.

    The answers to every second target warm the children up (their parsers build tables as they meet
    new formulas); those to the others are measured.
    """
    targets = list(dict.fromkeys(pair["target"] for pair in pairs))
    texts = [(pair["answer"], pair["target"]) for pair in pairs]
    warming = [text for text in texts if text[1] in targets[::2]]
    measured = [text for text in texts if text[1] in targets[1::2]]
    print(f"{len(measured)} pairs, {options.only or 'corrected'}; times in seconds")
    print(
        f"{'processes':>9}{'wall':>8}{'CPU':>8}{'waited':>8}{'parent':>8}{'faster':>8}{'quiet wall':>12}{'faster':>8}"
    )
    first = None
    for processes in options.processes:
        found = with_processes([*warming, *measured], len(warming), processes, options)
        first = first or found
        print(f"{processes:>9}{found.wall:>8.1f}{found.cpu:>8.1f}{found.waited:>8.1f}{found.parent:>8.2f}"
              f"{first.wall / found.wall:>7.2f}x{found.quiet:>12.1f}{first.quiet / found.quiet:>7.2f}x")  # fmt: skip


class Many(NamedTuple):
    """One pass of eed_score_many in seconds; of the children 0 where the system does not tell."""

    wall: float
    cpu: float  # of the children
    waited: float  # a working child's, for a core that somebody else had
    parent: float  # CPU of this process
    quiet: float  # wall time without waiting


class Look(NamedTuple):
    """The clocks at one moment."""

    wall: float
    parent: float
    children: dict[
        int, tuple[float, float]
    ]  # how long each child ran, and was ready to run and did not


def with_processes(
    texts: list[tuple[str, str]], warming: int, processes: int, options: argparse.Namespace
) -> Many:
    """Score all pairs in so many children; measure from the `warming`-th on."""
    looks: list[Look] = []

    def look(done: int) -> None:
        if done in (warming, len(texts)):
            looks.append(Look(time.perf_counter(), time.process_time(), run_and_waited()))

    mode = options.only or "corrected"
    for _ in eed_score_many(
        texts, processes=processes, mode=mode, progress=look, cache=options.cache
    ):
        pass
    start, end = looks
    spent = [
        (
            run - start.children.get(pid, (0.0, 0.0))[0],
            waited - start.children.get(pid, (0.0, 0.0))[1],
        )
        for pid, (run, waited) in end.children.items()
    ]
    working = sorted(spent, reverse=True)[
        :processes
    ]  # a spare child has run less than those that work
    waited = sum(waits for _, waits in working) / processes
    wall = end.wall - start.wall
    return Many(
        wall, sum(run for run, _ in spent), waited, end.parent - start.parent, wall - waited
    )


def run_and_waited() -> dict[int, tuple[float, float]]:
    """Return for each living child how long it ran, and was ready to run and did not (Linux: /proc/PID/schedstat)."""
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
