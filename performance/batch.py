"""What a request in a batch costs this process: CPU time and memory.

``python performance/batch.py [REQUESTS ...]``. The server of `tests/servers/batch_server.py` runs
as a process of its own on loopback; what it takes is not counted. So does each size.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
# In place of this folder, whose engine.py would hide the tests of that name.
sys.path[:1] = [str(ROOT), str(ROOT / "tests")]

SIZES = (1_000, 10_000)
PROMPT = "What is the sum of the numbers below? " + "7 " * 500
"""About a kilobyte."""


def peak() -> float:
    """Return the most memory that this process has had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(port: int, number: int) -> dict[str, float]:
    """Return CPU ms and kB of a request, and the seconds from first to last."""
    from engine.batches.bench import Bench, session  # noqa: PLC0415 - the process is measured
    from servers.fixture import ModelServer  # noqa: PLC0415 - as above

    found: dict[str, float] = {}

    async def work(bench: Bench) -> None:
        await bench.ask("warm")
        cpu, memory, began = time.process_time(), peak(), time.perf_counter()
        answers = await bench.ask(*(f"{PROMPT}{one}" for one in range(number)))
        assert len(answers) == number  # noqa: S101 - nothing may be lost
        found["cpu_ms"] = 1000 * (time.process_time() - cpu) / number
        found["kb"] = (peak() - memory) / number
        found["seconds"] = time.perf_counter() - began

    with tempfile.TemporaryDirectory() as folder:
        session(ModelServer(port), Path(folder) / "run", work)
    return found


def main() -> None:
    """Print a line for each size."""
    from servers.fixture import running  # noqa: PLC0415 - only the parent runs the server

    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    with tempfile.TemporaryDirectory() as state, running("batch_server.py", state) as server:
        for size in sizes:
            command = [sys.executable, __file__, "--child", str(server.port), str(size)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(done.stdout)
            print(
                f"{size:>6,} requests: {found['cpu_ms']:.2f} CPU ms and {found['kb']:.1f} kB each, "
                f"{found['seconds']:.1f} s in all"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(measured(int(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()
