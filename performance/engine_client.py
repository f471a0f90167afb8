"""CPU time of a model call: gateway, limiter and provider against a loopback server.

``python performance/engine_client.py [REQUESTS] [CONCURRENCY] [LATENCY]`` prints a table and a line
of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO, cast

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Image, Message, Request

SERVER = Path(__file__).parents[1] / "tests" / "servers" / "openai_server.py"


class NoImages:
    """A picture store for requests and replies without pictures."""

    def load(self, path: str) -> Image:
        """Refuse."""
        raise NotImplementedError(path)

    def save(self, data: bytes) -> Image:
        """Refuse."""
        raise NotImplementedError(len(data))


async def measure(url: str, requests: int, concurrency: int) -> tuple[float, float, CallStatistics]:
    """Return CPU and wall seconds for all requests, and what the gateway counted."""
    statistics = CallStatistics()
    model = ModelSpec(kind="openai", name="m", label="openai/m")
    environ = {"OPENAI_BASE_URL": url}
    provider = open_provider(model, folder=Path(), image_store=NoImages(), environ=environ)
    gateway = Gateway(
        provider,
        name="openai/m",
        limits=Limiter(concurrency, statistics=statistics),
        budget=Budget(),
        timeout=60,
        statistics=statistics,
    )
    questions = [
        Request(
            provider="openai",
            model="m",
            messages=(Message.of("user", f"question {i} " + "x" * 1000),),
        )
        for i in range(requests)
    ]
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(
        *(gateway.ask(question, Ticket(order)) for order, question in enumerate(questions))
    )
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    await gateway.close()
    return cpu, wall, statistics


def main() -> None:
    """Start the server, measure, print."""
    given = [float(one) for one in sys.argv[1:]]
    requests, concurrency, latency = given + [2000.0, 200.0, 1.0][len(given) :]
    with Popen([sys.executable, str(SERVER)], stdin=PIPE, stdout=PIPE, text=True) as server:
        # Both are pipes, so neither is None.
        asked, told = cast("IO[str]", server.stdin), cast("IO[str]", server.stdout)
        root = f"http://127.0.0.1:{json.loads(told.readline())['port']}"
        program = json.dumps({"latency": latency}).encode()
        urllib.request.urlopen(f"{root}/admin/program", program).close()  # noqa: S310 - loopback
        cpu, wall, statistics = asyncio.run(measure(f"{root}/v1", int(requests), int(concurrency)))
        asked.close()
    result = {
        "requests": statistics.requests,
        "peak_in_flight": statistics.peak_in_flight,
        "cpu_ms_per_request": round(cpu / requests * 1000, 2),
        "wall_seconds": round(wall, 2),
        "ideal_seconds": latency * requests / concurrency,
    }
    for name, value in result.items():
        print(f"{name:20} {value}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
