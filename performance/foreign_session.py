"""Measure what the plugin costs a pytest session without a test of ours.

    python performance/foreign_session.py [--pairs 20]

Runs pytest over one trivial test in a fresh folder, with the plugin and without, in turn, so that
a change of the machine's load meets both. Prints the medians of wall and CPU time (user and
system, of all processes of the session) and of the difference of each pair.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PLUGIN = "pytest_llmeval.plugin"
TARGET = 50.0
"""Milliseconds that a session may pay at most."""


class Cost(NamedTuple):
    """Wall time and CPU time of a session (ms)."""

    wall: float
    cpu: float


def session(folder: Path, *, with_plugin: bool) -> Cost:
    """Run pytest once and return what it cost."""
    # Other plugins stay out: hypothesis alone takes longer than what is measured.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    plugin = ["-p", PLUGIN] if with_plugin else ["-p", f"no:{PLUGIN}"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Cost(wall=1000 * wall, cpu=1000 * cpu)


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=20, help="sessions of each kind (20)")
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_foreign.py").write_text("def test_foreign():\n    pass\n")
        # The first session of each kind writes the bytecode.
        for with_plugin in (False, True):
            session(folder, with_plugin=with_plugin)
        without: list[Cost] = []
        with_it: list[Cost] = []
        for _ in range(pairs):
            without.append(session(folder, with_plugin=False))
            with_it.append(session(folder, with_plugin=True))
    for kind in Cost._fields:
        plain = statistics.median(getattr(one, kind) for one in without)
        ours = statistics.median(getattr(one, kind) for one in with_it)
        extra = statistics.median(
            getattr(b, kind) - getattr(a, kind) for a, b in zip(without, with_it, strict=True)
        )
        print(
            f"{kind:4}  without {plain:6.0f} ms  with {ours:6.0f} ms  "
            f"plugin {extra:5.1f} ms (target {TARGET:.0f})  ratio {ours / plain:.2f}"
        )


if __name__ == "__main__":
    main()
