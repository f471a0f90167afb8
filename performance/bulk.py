"""What `llmeval score` costs: processor time a row, memory, and growth with the nodes of a cluster.

    python performance/bulk.py rows [--rows N]         # CPU ms a row of exact, number, eed
    python performance/bulk.py memory [--sizes N ...]  # peak memory of command and child, exact
    python performance/bulk.py pairs [--mode MODE]     # EED over the pairs of LLMEVAL_SHARED
    python performance/bulk.py nodes [--nodes N ...]   # rows a second on clusters on this machine

CPU seconds are those of the command, its scoring children and theirs, sampled from outside; what a
process took in the last tenth of a second of its life is missing. Trust them before wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil
import pyarrow as pa
from pyarrow import parquet

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the package of this checkout

from pytest_llmeval.bulk.job import Job, ScorerSpec  # noqa: E402 - after the path is set
from pytest_llmeval.bulk.local import PartsToScore  # noqa: E402
from pytest_llmeval.bulk.part_folder import Part  # noqa: E402
from pytest_llmeval.bulk.run import BulkRun  # noqa: E402

SHARED = Path(os.environ.get("LLMEVAL_SHARED", ROOT.parent / "shared"))

SCORERS = """
import time

def waiting(answer, sample):
    time.sleep(0.02)
    return answer == sample.target

def counting(answer, sample):
    sum(range(400_000))
    return answer == sample.target
"""
"""A scorer that waits 20 ms, and one that computes for about as long."""

NODES = {"waiting": 1_200, "counting": 600}
"""Rows that clusters score by each of them."""


@dataclass
class Cost:
    """What a command took.

    Attributes:
        seconds: wall time.
        cpu: CPU seconds by what a process is: the command, a scoring child, a child of one.
        peak: bytes resident at most, likewise.
    """

    seconds: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("what", choices=("rows", "memory", "pairs", "nodes"))
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--only", choices=NODES, help="this scorer alone, for nodes")
    parser.add_argument("--mode", default="corrected", help="of EED, for pairs")
    chosen = parser.parse_args()
    measures: dict[str, Callable[[Path], None]] = {
        "rows": partial(rows, number=chosen.rows),
        "memory": partial(memory, sizes=chosen.sizes),
        "pairs": partial(pairs, mode=chosen.mode),
        "nodes": partial(
            nodes,
            counts=chosen.nodes,
            scorers={name: many for name, many in NODES.items() if chosen.only in {None, name}},
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "own.py").write_text(SCORERS)
        measures[chosen.what](Path(folder))
    print(f"load of the machine: {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")


def rows(folder: Path, number: int) -> None:
    """Print the CPU time of a row by scorer; what starting takes is left out."""
    made = {"exact": (texts, 50), "number": (numbers, 5), "eed": (formulas, 1)}
    print("| scorer | rows | CPU ms a row | command | child | its child | wall s |")
    for scorer, (table, times) in made.items():
        many = number * times
        start = cost(folder, table(100), scorer)
        whole = cost(folder, table(many + 100), scorer)
        each = {
            who: 1_000 * max(0.0, seconds - start.cpu.get(who, 0.0)) / many
            for who, seconds in whole.cpu.items()
        }
        parts = " | ".join(f"{each.get(who, 0.0):.3f}" for who in ("command", "child", "inner"))
        print(f"| {scorer} | {many:,} | {sum(each.values()):.3f} | {parts} | {whole.seconds:.0f} |")


def memory(folder: Path, sizes: list[int]) -> None:
    """Print the peak memory of tables of several sizes."""
    print("| rows | command MB | child MB | CPU ms a row | wall s |")
    for size in sizes:
        found = cost(folder, texts(size), "exact")
        peaks = " | ".join(f"{found.peak[who] / 2**20:.0f}" for who in ("command", "child"))
        each = 1_000 * sum(found.cpu.values()) / size
        print(f"| {size:,} | {peaks} | {each:.3f} | {found.seconds:.0f} |", flush=True)


def pairs(folder: Path, mode: str) -> None:
    """Print what the pairs of the reference material take, and a million like them."""
    lines = (SHARED / "conformance" / "eed.jsonl").read_text("utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    table = pa.table(
        {"answer": [one["answer"] for one in read], "target": [one["target"] for one in read]}
    )
    options = f"{{eed: {{mode: {mode}}}}}"
    start = sum(cost(folder, table.slice(0, 1), options).cpu.values())
    whole = cost(folder, table, options)
    each = (sum(whole.cpu.values()) - start) / (table.num_rows - 1)
    print(
        f"{options}: {table.num_rows} pairs, {1_000 * each:.1f} CPU ms a pair; "
        f"a million: {each * 1e6 / 3_600:.1f} core hours ({whole.seconds:.0f} s wall)"
    )


def nodes(folder: Path, counts: list[int], scorers: dict[str, int]) -> None:
    """Print the rows a second of clusters of several sizes, each node with one processor."""
    print("| scorer | nodes | rows a second | times the first | wall s with start |")
    for scorer, many in scorers.items():
        first = 0.0
        for count in counts:
            rate, seconds = on_cluster(folder, count, scorer, many)
            first = first or rate
            print(
                f"| {scorer} | {count} | {rate:.1f} | {rate / first:.2f} | {seconds:.0f} |",
                flush=True,
            )


def on_cluster(folder: Path, count: int, scorer: str, many: int) -> tuple[float, float]:
    """Return the rows a second from the first part on, and the wall seconds with all starts."""
    # Here alone: the other measures need no ray.
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    from pytest_llmeval.bulk.cluster import scored_on_cluster  # noqa: PLC0415

    source, out = folder / f"{count}.parquet", folder / f"{scorer}{count}.parquet"
    parquet.write_table(texts(many), source)
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    arrivals: list[float] = []
    try:
        for _ in range(count):
            cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        cluster.wait_for_nodes()
        began = time.monotonic()
        job = Job(scorers=(ScorerSpec(name=f"./own.py:{scorer}"),), folder=str(folder))
        run = BulkRun.open(source, [], job, out, 20)

        def score_parts(
            work: PartsToScore, advance: Callable[[int], None]
        ) -> Iterator[tuple[Part, pa.Table]]:
            for part in scored_on_cluster(work, cluster.address, advance):
                arrivals.append(time.monotonic())
                yield part

        run.score(score_parts, lambda _: None)
        seconds = time.monotonic() - began
    finally:
        cluster.shutdown()
    # The first tenth of the parts is left out: actors and children start at different times.
    warm = arrivals[len(arrivals) // 10 :]
    return 20 * (len(warm) - 1) / (warm[-1] - warm[0]), seconds


def cost(folder: Path, table: pa.Table, scorer: str) -> Cost:
    """Return what scoring a table takes, with one scoring child."""
    source, out = folder / "in.parquet", folder / "out.parquet"
    parquet.write_table(table, source)
    out.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest_llmeval", "score", str(source), "--scorer", scorer]
    began, found = time.monotonic(), Cost()
    with subprocess.Popen(
        [*command, "--out", str(out), "--jobs", "1"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        cpu: dict[int, tuple[str, float]] = {}
        while process.poll() is None:
            watch(psutil.Process(process.pid), cpu, found.peak)
            time.sleep(0.1)
    if process.returncode:
        sys.exit(f"the command failed with status {process.returncode}")
    found.seconds = time.monotonic() - began
    for who, seconds in cpu.values():
        found.cpu[who] = found.cpu.get(who, 0.0) + seconds
    return found


def watch(command: psutil.Process, cpu: dict[int, tuple[str, float]], peak: dict[str, int]) -> None:
    """Note the CPU seconds and the memory of a command and of those below it."""
    try:
        children = command.children(recursive=True)
    except psutil.Error:
        return
    for process in (command, *children):
        try:
            inner = process.pid != command.pid and process.ppid() != command.pid
            who = "command" if process.pid == command.pid else "inner" if inner else "child"
            times = process.cpu_times()
            cpu[process.pid] = who, times.user + times.system
            peak[who] = max(peak.get(who, 0), process.memory_info().rss)
        except psutil.Error:
            continue


def texts(number: int) -> pa.Table:
    """Return answers of a line each, of which a third is wrong, beside a text of 200 characters."""
    rng = random.Random(1)  # noqa: S311 - not for secrets
    targets = [f"{rng.choice(('red', 'green', 'blue'))} {n % 1_000}" for n in range(number)]
    answers = [text if n % 3 else f"{text}0" for n, text in enumerate(targets)]
    return pa.table(
        {"answer": answers, "target": targets, "prompt": [f"{n:200}" for n in range(number)]}
    )


def numbers(number: int) -> pa.Table:
    """Return answers that state a number in a sentence, with a unit or without."""
    rng = random.Random(2)  # noqa: S311 - not for secrets
    values = [round(rng.uniform(-1_000, 1_000), rng.randint(0, 3)) for _ in range(number)]
    forms = ("{}", "The answer is {}.", "x = {}", "about {} m", r"\boxed{{{}}}", "I think it is {}")
    answers = [rng.choice(forms).format(v if rng.random() < 0.7 else v + 1) for v in values]
    return pa.table({"answer": answers, "target": [str(value) for value in values]})


def formulas(number: int) -> pa.Table:
    """Return pairs of formulas: equal in another form, off by a factor, of another form, broken.

    Each target is new, as in a benchmark with one answer a problem.
    """
    rng = random.Random(3)  # noqa: S311 - not for secrets
    made = [_pair(rng) for _ in range(number)]
    return pa.table({"answer": [one for one, _ in made], "target": [other for _, other in made]})


def _pair(rng: random.Random) -> tuple[str, str]:
    a, b, c, d = rng.sample(["m", "g", "k", "v", "R", "L", "q", "\\omega", "\\theta", "\\mu"], 4)
    p, q = rng.randint(2, 99), rng.randint(2, 9)
    forms = (
        (rf"\frac{{{p} {a} {b}^2}}{{{c}}}", rf"{p} {a} {b}^{{2}} {c}^{{-1}}"),
        (
            rf"\sqrt{{\frac{{{p} {a}}}{{{b}}}}} + {c}",
            rf"{c} + \frac{{\sqrt{{{p} {a} {b}}}}}{{{b}}}",
        ),
        (rf"{a} \sin({p} {b}) + {c} {d}", rf"{d} {c} + {a} \sin({p} {b})"),
        (rf"({a} + {q} {b})^2", rf"{a}^2 + {2 * q} {a} {b} + {q * q} {b}^2"),
        (
            rf"\frac{{{a}}}{{{b} + {p} {c}}} e^{{-{q} {d}}}",
            rf"\frac{{{a} e^{{-{q} {d}}}}}{{{p} {c} + {b}}}",
        ),
    )
    target, equal = rng.choice(forms)
    kind = rng.random()
    if kind < 0.4:
        return equal, target
    if kind < 0.7:
        return rf"{rng.randint(2, 9)} {equal}", target
    if kind < 0.95:
        return rng.choice(forms)[0], target
    return equal[:-1] + r"\frac{", target


if __name__ == "__main__":
    main()
