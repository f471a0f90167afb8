"""The soak's model server: OpenAI's protocol, a ledger on disk, and faults drawn from a seed.

    python performance/soak_server.py PORT LEDGER SEED

prints its port (a free one for 0) and serves on loopback until its standard input closes. A prompt
begins ``sample ID STAGE`` and goes on with what the reply is made of:

- ``say TEXT``: the reply is the text.
- ``query NUMBER``: the reply is a Cypher query whose one row is the number plus the scene's rooms.
- ``rows``: the reply is the first number that stands on a line by itself below, else ``none``.
- ``poison STATUS``: the request is refused, every time.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import sys
from itertools import count
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

from aiohttp import web
from soak_ledger import Entry, Kind, LedgerWriter, digest_of

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from servers.openai_server import Server, serve

FAULTS: Final[tuple[dict[str, Any], ...]] = (
    {"kind": "429", "retry_after": "200ms"},
    {"kind": "500"},
    {"kind": "503"},
    {"kind": "reset"},
    {"kind": "truncated"},
    {"kind": "half"},
    {"kind": "garbage"},
    {"kind": "stall"},
)
FAULTY: Final = 0.04
"""Share of attempts that meet one of `FAULTS`."""

SLOW: Final = 0.01
"""Share of the other attempts whose reply takes `SLOW_SECONDS`."""

SLOW_SECONDS: Final = 4.0
LATENCY: Final = (0.02, 0.3)
"""Bounds of the seconds of any other reply."""

PROMPT: Final = re.compile(r"sample (\S+) (\w+)(?: (\S+))?")
NUMBER: Final = re.compile(r"^\s*(\d+)\s*$", re.MULTILINE)


class SoakServer(Server):
    """The server of the tests, with a ledger and with its own replies and faults."""

    def __init__(self, ledger: LedgerWriter, seed: int) -> None:
        """Write into a ledger; draw by a seed."""
        super().__init__()
        self._ledger, self._seed = ledger, seed
        self._process, self._numbers = os.getpid(), count()
        self._connections: WeakKeyDictionary[asyncio.BaseTransport, str] = WeakKeyDictionary()

    def completion(self, body: dict[str, Any], prompt: str) -> Any:  # noqa: ANN401 - JSON
        """Return the answer to a prompt, in OpenAI's form."""
        answer = super().completion(body, prompt)
        answer["choices"][0]["message"]["content"] = reply_to(prompt)
        return answer

    async def respond(
        self,
        request: web.Request,
        prompt: str,
        answer: Any,  # noqa: ANN401 - JSON
    ) -> web.StreamResponse:
        """Answer or misbehave, and write down what was done."""
        key, said = digest_of(prompt), PROMPT.search(prompt)
        attempt = self.attempts[prompt]
        self.attempts[prompt] += 1

        def note(kind: Kind, fault: str = "") -> None:
            entry = Entry(
                kind=kind,
                prompt=key,
                sample="?" if said is None else said[1],
                connection=self._connection(request),
                attempt=attempt,
                fault=fault,
            )
            self._ledger.add(entry)

        note("asked")
        if said is not None and said[2] == "poison":
            note("fault", "poison")
            return self.error(int(said[3]), f"prompt {key} is refused")
        draw = random.Random(f"{self._seed} {attempt} {key}")  # noqa: S311 - no secret
        if draw.random() < FAULTY:
            fault = draw.choice(FAULTS)
            note("fault", fault["kind"])
            return await self.misbehave(request, fault, answer)
        await asyncio.sleep(SLOW_SECONDS if draw.random() < SLOW else draw.uniform(*LATENCY))
        response = web.json_response(answer)
        await response.prepare(request)
        await response.write_eof()
        # A reply counts as paid when all of it was handed to the system for a client that is there.
        if request.transport is not None and not request.transport.is_closing():
            note("paid")
        return response

    def _connection(self, request: web.Request) -> str:
        transport = request.transport
        if transport is None:
            return "closed"
        if transport not in self._connections:
            self._connections[transport] = f"{self._process}-{next(self._numbers)}"
        return self._connections[transport]


def reply_to(prompt: str) -> str:
    """Return the text that answers a prompt."""
    said = PROMPT.search(prompt)
    match said and said[2]:
        case "say":
            return f"Easily.\n{said[3]}" if said else ""
        case "query":
            return (
                f"<answer>MATCH (r:Room) RETURN count(r) + {said[3] if said else 0} AS n</answer>"
            )
        case _:
            number = NUMBER.search(prompt)
            return f"<answer>{number[1] if number else 'none'}</answer>"


async def main(port: int, ledger: Path, seed: int) -> None:
    """Serve until standard input closes."""
    server = SoakServer(LedgerWriter(ledger), seed)
    app = web.Application(client_max_size=2**20)
    app.add_routes([web.post("/v1/chat/completions", server.chat)])
    await serve(app, port)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
