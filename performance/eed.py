"""Measure EED: CPU seconds a pair, cold and warm, beside math-verify, and with several processes.

Each grader runs in two fresh processes over the same pairs: cold, with every cache emptied before
each pair (the targets met, and sympy's), and warm, as in a run. math-verify (which decides equality
alone) is measured where it is installed. For comparison: the public reference
(phybench-official/phybench d9db3ec) takes 0.52 CPU seconds a pair, cold, on average over the
conformance pairs.

    python performance/eed.py [--pairs FILE] [--every N] [--only NAME] [--json FILE]
    python performance/eed.py --processes 1 2 [--pairs FILE] [--every N]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the package of this checkout

from pytest_llmeval.scoring.eed import Mode, eed_score_many  # noqa: E402 - after the path is set

SHARED = Path(os.environ.get("LLMEVAL_SHARED", ROOT.parent / "shared"))
REFERENCE_SECONDS = 0.52
NANOSECONDS = 1e9
WARMING = (r"\frac{a}{b}+\sin x", r"\frac{a}{c}+\sin x")
GRADERS = ("corrected", "published", "math-verify")
CACHES = ("cold", "warm")

Grader: TypeAlias = Callable[[str, str], float | None]
"""From answer and target to the score, 0 to 100; None for an answer that cannot be graded."""


def main() -> None:
    """Print a table, or measure one grader and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=Path, default=SHARED / "conformance" / "eed.jsonl")
    parser.add_argument("--every", type=int, default=1, help="take every N-th pair")
    parser.add_argument("--only", choices=GRADERS, help="measure this grader alone")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument(
        "--processes",
        type=int,
        nargs="+",
        help="measure eed_score_many with these numbers of children instead",
    )
    parser.add_argument("--caches", choices=CACHES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    pairs = [json.loads(line) for line in options.pairs.read_text().splitlines()][:: options.every]
    if options.caches:
        print(json.dumps(measured(options.only, pairs, cold=options.caches == "cold")))
    elif options.processes:
        compare_processes(pairs, options)
    else:
        compare_graders(pairs, options)


def compare_graders(pairs: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Print the figures of all graders."""
    print(f"{len(pairs)} pairs; CPU milliseconds a pair; the reference: {1e3 * REFERENCE_SECONDS}")
    heads = ("cold mean", "median", "p99", "x faster", "warm mean", "median", "x faster", "equal")
    print(f"{'grader':<14}" + "".join(f"{head:>11}" for head in heads))
    figures = {}
    for grader in GRADERS if options.only is None else (options.only,):
        if grader == "math-verify" and importlib.util.find_spec("math_verify") is None:
            print(f"{grader:<14}is not installed: pip install math-verify")
            continue
        cold, warm = (in_child(grader, caches, options) for caches in CACHES)
        figures[grader] = {"cold": cold, "warm": warm}
        cells = (
            *(f"{1e3 * cold[key]:.1f}" for key in ("mean", "median", "p99")),
            f"{REFERENCE_SECONDS / cold['mean']:.1f}",
            *(f"{1e3 * warm[key]:.1f}" for key in ("mean", "median")),
            f"{REFERENCE_SECONDS / warm['mean']:.1f}",
            str(warm["equal"]),
        )
        print(f"{grader:<14}" + "".join(f"{cell:>11}" for cell in cells), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


def in_child(grader: str, caches: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measure one grader in a fresh process."""
    command = [sys.executable, __file__, "--only", grader, "--caches", caches]
    run = subprocess.run(
        [*command, "--pairs", str(options.pairs), "--every", str(options.every)],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # math-verify warns of everything
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    figures: dict[str, Any] = json.loads(run.stdout)
    return figures


def measured(grader: str, pairs: list[dict[str, Any]], *, cold: bool) -> dict[str, Any]:
    """Return the CPU seconds and scores of one grader."""
    modes: dict[str, Mode] = {"corrected": "corrected", "published": "published"}
    grade = _eed(modes[grader]) if grader in modes else _math_verify()
    clear = _caches()
    grade(*WARMING)
    seconds, scores = [], []
    for pair in pairs:
        for clear_cache in clear if cold else ():
            clear_cache()
        start = time.process_time()
        scores.append(grade(pair["answer"], pair["target"]))
        seconds.append(time.process_time() - start)
    return {
        "mean": statistics.fmean(seconds),
        "median": statistics.median(seconds),
        "p99": statistics.quantiles(seconds, n=100)[98],
        "equal": scores.count(100.0),
        "scores": scores,
    }


def _eed(mode: Mode) -> Grader:
    # The parent needs no sympy.
    from pytest_llmeval.scoring.eed.scoring import score_pair  # noqa: PLC0415
    from pytest_llmeval.scoring.eed.time_limit import cpu_timer  # noqa: PLC0415

    return lambda answer, target: score_pair(answer, target, mode=mode, time_limit=cpu_timer).score


def _math_verify() -> Grader:
    library = importlib.import_module("math_verify")  # where it is installed

    def read(text: str) -> object:
        return library.parse(f"${text.strip().strip('$')}$", parsing_timeout=10)

    def grade(answer: str, target: str) -> float:
        return 100.0 * bool(library.verify(read(target), read(answer), timeout_seconds=10))

    return grade


def _caches() -> list[Callable[[], None]]:
    """Return the functions that empty the caches of the package, and sympy's."""
    from sympy.core.cache import clear_cache  # noqa: PLC0415

    from pytest_llmeval.scoring.eed import scoring  # noqa: F401, PLC0415 - imports all others

    modules = [module for name, module in sys.modules.items() if ".scoring.eed." in name]
    cached = {id(item): item for module in modules for item in vars(module).values()
              if hasattr(item, "cache_clear")}  # fmt: skip
    return [clear_cache, *(item.cache_clear for item in cached.values())]


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
