"""How time and CPU grow with the number of samples: ours, Inspect and plain pytest in one run.

    python performance/engine_growth.py                   # 200, 2,000, 20,000 samples; all three
    python performance/engine_growth.py --samples 200 2000 --who ours plain
    python performance/engine_growth.py --who inspect --python /path/to/python
    python docs/images/draw_growth.py docs/images/engine_growth.json docs/images/engine_growth.svg

A server in a process of its own answers after a second, 200 requests in flight. Plain pytest runs
as many empty tests, and asks nothing. Each cell (one of the three at a number of samples) is one
process with its children, and is written to a JSON file (`--out`) as soon as it has ended; cells
that the file holds are not measured again without `--again`, so that a run can be continued. A cell
has the load of the machine before it (one minute). The three are measured one after the other at
each size. `--python` is an interpreter that has `inspect-ai` and `openai`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import engine_peers
from engine_load import Load, run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.fixture import ModelServer, serving

SIZES = (200, 2_000, 20_000)

OUT: Final = Path(__file__).parents[1] / "docs" / "images" / "engine_growth.json"

# Without xdist, which one process does not need, and hypothesis, which our own tests use.
PYTEST: Final = (
    *(sys.executable, "-m", "pytest", "-q", "--tb=no"),
    *("-p", "no:xdist", "-p", "no:hypothesispytest"),
)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one process took.

    Attributes:
        who: a key of `COMMANDS`.
        samples: number of samples.
        wall: seconds from start to exit.
        ideal: seconds that waiting for replies alone takes.
        cpu: seconds of CPU, with its children.
        requests: those that the server got.
        peak: requests in flight at most.
        load: of the machine before it.
    """

    who: str
    samples: int
    wall: float
    ideal: float
    cpu: float
    requests: int
    peak: int
    load: float

    @property
    def key(self) -> tuple[str, int]:
        """What a file of cells has once."""
        return self.who, self.samples


def ours(load: Load, url: str, _python: str) -> Sequence[str]:
    """Return the command of a run of ours, in one process, without files."""
    model = ("--llmeval-model", f"openai/load,base_url={url}")
    in_flight = ("--llmeval-concurrency", str(load.concurrency))
    return (*PYTEST, "-p", "pytest_llmeval.plugin", "test_load.py", *model, *in_flight)


def inspect(load: Load, _url: str, python: str) -> Sequence[str]:
    """Return the command of Inspect's run."""
    return engine_peers.commands(python, load)[f"Inspect, {load.concurrency}"]


def plain(_load: Load, _url: str, _python: str) -> Sequence[str]:
    """Return the command of plain pytest over as many tests."""
    return (*PYTEST, "-p", "no:pytest_llmeval.plugin", "test_plain.py")


COMMANDS: Final[Mapping[str, Callable[[Load, str, str], Sequence[str]]]] = MappingProxyType(
    {"ours": ours, "inspect": inspect, "plain": plain}
)


def main() -> None:
    """Measure the cells that are asked for and missing; print and store each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--who", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--again", action="store_true", help="also cells that the file holds")
    parser.add_argument("--out", type=Path, default=OUT, help=f"file of cells ({OUT.name})")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has Inspect")
    chosen = parser.parse_args()
    cells = stored(chosen.out)
    with serving() as server:
        for samples in chosen.samples:
            for who in chosen.who:
                if (who, samples) in cells and not chosen.again:
                    continue
                cell = measured(server, who, samples, chosen.python)
                cells[cell.key] = cell
                write(chosen.out, cells)
                print(line(cell), flush=True)


def measured(server: ModelServer, who: str, samples: int, python: str) -> Cell:
    """Run one of the three once, in a new folder; end the script if it did not ask each sample."""
    load = Load(samples=samples, latency=1.0, concurrency=200)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        load.write_project(folder)
        engine_peers.write_projects(load, folder)
        server.program(**load.program("calm"))
        environment = {**os.environ, **engine_peers.environment(server.url)}
        busy = os.getloadavg()[0]
        took = run(COMMANDS[who](load, server.url, python), folder, environment)
    report = server.report()
    if report["requests"] < (0 if who == "plain" else samples):
        sys.exit(f"{who}: {report['requests']} requests for {samples} samples: {took.last_line}")
    return Cell(
        who=who,
        samples=samples,
        wall=round(took.wall, 2),
        ideal=0.0 if who == "plain" else load.ideal,
        cpu=round(took.cpu, 2),
        requests=report["requests"],
        peak=report["peak"],
        load=round(busy, 1),
    )


def stored(file: Path) -> dict[tuple[str, int], Cell]:
    """Return the cells of a file by their keys; none are in a file that does not exist."""
    found: list[dict[str, Any]] = json.loads(file.read_text("utf-8")) if file.exists() else []
    return {cell.key: cell for cell in (Cell(**one) for one in found)}


def write(file: Path, cells: Mapping[tuple[str, int], Cell]) -> None:
    """Replace the file of cells as a whole."""
    part = file.with_suffix(".part")
    ordered = sorted(cells.values(), key=lambda cell: (cell.samples, cell.who))
    part.write_text(json.dumps([asdict(cell) for cell in ordered], indent=1) + "\n", "utf-8")
    part.replace(file)


def line(cell: Cell) -> str:
    """Return the line of a cell."""
    times = f"{cell.wall:8.1f} s  {cell.cpu:7.1f} CPU s  {1_000 * cell.cpu / cell.samples:6.2f} ms"
    asked = f"{cell.requests:7,} requests, {cell.peak} at once"
    return f"{cell.samples:7,} {cell.who:8} {times} a sample  {asked}, load {cell.load}"


if __name__ == "__main__":
    main()
