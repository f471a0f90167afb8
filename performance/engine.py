"""Runs pytest over samples that a local server answers: wall, CPU, requests, peak in flight.

    python performance/engine.py              # all sizes, all modes, a calm server
    python performance/engine.py --samples 200 --modes serial --weather sampled bursts faults
    python performance/engine.py --samples 2000 --modes store    # all replies are stored already
    python performance/engine.py --samples 5000 --modes "serial, with files"    # 1,000 in flight
    python performance/engine.py --samples 2000 --modes serial "plain pytest" --repeat 5
    python performance/engine.py --samples 200 --modes serial --peers /path/to/python

The server runs in its own process, so the CPU seconds are pytest's, its workers' and their
children's. Machines are shared and noisy: trust CPU seconds and counts before wall time, and wall
time as a multiple of the ideal.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import engine_peers
from engine_load import WEATHERS, Load, Took, run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.fixture import ModelServer, serving

# What our own tests alone use: hypothesis would add 0.8 CPU seconds to every process, and each of
# the others has its hooks called for every test.
PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "-p",
    "pytest_llmeval.plugin",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:rerunfailures",
    "-p",
    "no:anyio",
)
SERIAL = ("-p", "no:xdist")

MODES = {
    "serial": SERIAL,
    "-n 2": ("-n", "2"),
    "-n 4": ("-n", "4"),
    "-n 4 worksteal": ("-n", "4", "--dist", "worksteal"),
    "serial, with files": SERIAL,
    "store": SERIAL,
    "plain pytest": SERIAL,
}

WITH_FILES = ("serial, with files", "store")
"""The modes that write a run's folder, its report among it."""

LOADS = (
    Load(samples=200, latency=1.0, concurrency=200),
    Load(samples=2_000, latency=1.0, concurrency=200),
    Load(samples=5_000, latency=1.0, concurrency=1_000),
    Load(samples=800, latency=2.0, concurrency=64, scoring=0.1),
)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one run took and asked.

    Attributes:
        rate: samples a second, from start to exit.
        machine_load: processes that wanted a processor in its last minute (the load average).
    """

    load: str
    weather: str
    mode: str
    wall: float
    cpu: float
    ideal: float
    rate: float
    machine_load: float
    requests: int
    peak: int
    last_line: str

    def line(self) -> str:
        """Return the line of the table."""
        times = f"{self.wall:7.1f} {self.wall / self.ideal:8.2f} {self.cpu:7.1f}"
        busy = f"{self.machine_load:5.1f}"
        figures = f"{times} {self.rate:7.0f} {self.requests:9} {self.peak:5} {busy}"
        return f"{self.load:38} {self.weather:8} {self.mode:19} {figures}  {self.last_line}"


def main() -> None:
    """Measure what is asked for, print each line as it is there, then JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, help="only the load with so many samples")
    parser.add_argument("--modes", nargs="*", choices=MODES, default=list(MODES))
    parser.add_argument("--weather", nargs="*", choices=WEATHERS, default=["calm"])
    parser.add_argument("--repeat", type=int, default=1, help="how often everything is run")
    parser.add_argument(
        "--peers", metavar="PYTHON", help="interpreter that has the peers, measured as well"
    )
    chosen = parser.parse_args()
    times = f"{'wall s':>7} {'x ideal':>8} {'CPU s':>7} {'a s':>7}"
    figures = f"{times} {'requests':>9} {'peak':>5} {'busy':>5}"
    print(f"{'load':38} {'weather':8} {'mode':19} {figures}")
    everything = []
    with serving() as server:
        for load in LOADS * chosen.repeat:
            if chosen.samples in (None, load.samples):
                for measured in measure(server, load, chosen.modes, chosen.weather, chosen.peers):
                    print(measured.line(), flush=True)
                    everything.append(asdict(measured))
    print(json.dumps(everything))


def measure(
    server: ModelServer,
    load: Load,
    modes: Sequence[str],
    weathers: Sequence[str],
    peers: str | None,
) -> Iterator[Measured]:
    """Run one load in every mode and weather, each in a new folder."""
    for weather in weathers:
        for mode in modes:
            with tempfile.TemporaryDirectory() as folder:
                load.write_project(Path(folder))
                yield from measure_ours(server, load, weather, mode, Path(folder))
        if peers:
            with tempfile.TemporaryDirectory() as folder:
                engine_peers.write_projects(load, Path(folder))
                for peer, command in engine_peers.commands(peers, load).items():
                    server.program(**load.program(weather))
                    took = run(
                        command,
                        Path(folder),
                        {**os.environ, **engine_peers.environment(server.url)},
                    )
                    yield told(server, load, weather, peer, took)


def measure_ours(
    server: ModelServer, load: Load, weather: str, mode: str, folder: Path
) -> Iterator[Measured]:
    """Run pytest once over a load; in the mode ``plain pytest`` over as many plain tests.

    In the mode ``store`` that run is not measured, but a second one that finds all replies stored,
    and one over plain tests.
    """
    if mode == "plain pytest":
        yield measure_plain(server, load, weather, folder)
        return
    options = ["--llmeval-model", f"openai/load,base_url={server.url}"]
    options += ["--llmeval-concurrency", str(load.concurrency), *MODES[mode]]
    options += ["--llmeval-report", "reports"] if mode in WITH_FILES else []
    server.program(**load.program(weather))
    cold = run([*PYTEST, "test_load.py", *options], folder, os.environ)
    if mode != "store":
        yield told(server, load, weather, mode, cold)
        return
    server.program(**load.program(weather))
    stored = run([*PYTEST, "test_load.py", *options, "--llmeval-resume"], folder, os.environ)
    yield told(server, load, weather, mode, stored)
    yield measure_plain(server, load, weather, folder)


def measure_plain(server: ModelServer, load: Load, weather: str, folder: Path) -> Measured:
    """Run pytest over as many empty tests."""
    server.program(**load.program(weather))
    took = run([*PYTEST, "test_plain.py", *SERIAL], folder, os.environ)
    return told(server, load, weather, "plain pytest", took)


def told(server: ModelServer, load: Load, weather: str, mode: str, took: Took) -> Measured:
    """Return what a run took, and what the server counted."""
    report = server.report()
    return Measured(
        load=str(load),
        weather=weather,
        mode=mode,
        ideal=load.ideal,
        rate=load.samples / took.wall,
        machine_load=os.getloadavg()[0],
        requests=report["requests"],
        peak=report["peak"],
        **asdict(took),
    )


if __name__ == "__main__":
    main()
