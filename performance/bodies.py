"""Runs tests whose bodies ask models, in each form: wall and CPU seconds, requests, peak in flight.

    python performance/bodies.py        # 10 samples with two calls of 2 s each, 200 with two of 1 s
    python performance/bodies.py --samples 200 --forms async --modes serial

Each body makes two calls beside its sample's own. In the form "serial" one waits after the other,
in "gather" both go out at once, in "async" the bodies of other tests go on meanwhile. The server is
that of `engine.py`, in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine import MODES, PYTEST
from engine_load import Load, run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.fixture import ModelServer, serving

HEAD = """
import asyncio, pytest
pytestmark = pytest.mark.llmeval("task.yaml")
"""

FORMS = {
    "serial": """
def test_load(sample, completion, llm):
    for part in ("first", "second"):
        assert llm.generate(f"{part} {sample.id}").text
""",
    "gather": """
def test_load(sample, completion, llm):
    assert all(llm.generate_all([f"first {sample.id}", f"second {sample.id}"]))
""",
    "async": """
async def test_load(sample, completion, llm):
    for part in ("first", "second"):
        assert (await llm.agenerate(f"{part} {sample.id}")).text
""",
    "async, both at once": """
async def test_load(sample, completion, llm):
    parts = ("first", "second")
    assert all(await asyncio.gather(*(llm.agenerate(f"{one} {sample.id}") for one in parts)))
""",
}
"""The test of each form."""

LOADS = (
    Load(samples=10, latency=2.0, concurrency=64),
    Load(samples=200, latency=1.0, concurrency=64),
)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What one run took."""

    load: Load
    form: str
    mode: str
    wall: float
    cpu: float
    requests: int
    peak: int

    def __str__(self) -> str:
        """Return a line of the table."""
        return (
            f"{self.load!s:32} {self.form:20} {self.mode:8} {self.wall:7.1f} {self.cpu:7.1f} "
            f"{self.requests:8} {self.peak:5}"
        )


def measured(
    load: Load, forms: Sequence[str], modes: Sequence[str], server: ModelServer
) -> Iterator[Figures]:
    """Yield the figures of each form in each mode."""
    model = f"openai/m,base_url={server.url},concurrency={load.concurrency}"
    for form in forms:
        for mode in modes:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                load.write_project(folder)
                (folder / "test_load.py").write_text(HEAD + FORMS[form])
                server.program(**load.program("calm"))
                command = (*PYTEST, *MODES[mode], "test_load.py", "--llmeval-model", model)
                took = run(command, folder, {**os.environ, "OPENAI_API_KEY": "none"})
                report = server.report()
                yield Figures(
                    load=load,
                    form=form,
                    mode=mode,
                    wall=took.wall,
                    cpu=took.cpu,
                    requests=report["requests"],
                    peak=report["peak"],
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--modes", nargs="+", default=["serial", "-n 2"], choices=list(MODES))
    parser.add_argument("--samples", nargs="+", type=int, default=[10, 200])
    chosen = parser.parse_args()
    with serving() as server:
        for load in LOADS:
            if load.samples in chosen.samples:
                for figures in measured(load, chosen.forms, chosen.modes, server):
                    sys.stdout.write(f"{figures}\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
