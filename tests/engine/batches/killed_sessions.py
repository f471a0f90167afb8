"""Starts one session of two stages after the other, each killed at a random moment, until one ends.

``python killed_sessions.py PORT FOLDER DIALECT SEED REQUESTS`` prints how many were killed. They
are forks of this process, so that a kill costs no new start of Python.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from engine.batches.bench import Bench, echoes, prompts, session, texts
from servers.fixture import ModelServer

MOST_KILLS = 25


def work_of(number: int) -> None:
    """Ask so many prompts, and then about each reply; exit with 0 if all went well."""

    async def work(bench: Bench) -> None:
        first = texts(await bench.ask(*prompts(number)))
        assert first == echoes(number), first
        second = texts(await bench.ask(*(f"{text}?" for text in first)))
        assert second == [f"echo: {text}?" for text in first], second

    server, folder, dialect = ModelServer(int(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]
    session(server, folder, work, dialect=dialect)


def main() -> None:
    """Fork, kill and wait."""
    rng, kills = random.Random(int(sys.argv[4])), 0
    while True:
        child = os.fork()
        if not child:
            work_of(int(sys.argv[5]))
            os._exit(0)
        if kills < MOST_KILLS:
            # Later from kill to kill: sessions get ahead, however fast the machine is.
            time.sleep(rng.uniform(0.01, 0.06 * (kills + 1)))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            break
        kills += 1
    print(kills)  # noqa: T201 - what the parent reads
    sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
