"""The child process that runs queries over Bolt and reads their rows, one after the other.

JSON lines on standard input: first ``{uri, username, password, database, server, deadline}``
(`Login` and `TimeLimits`), then ``{cypher, mark}`` for each query. Standard output has the
line ``ready``, then for each query one of ``{"rows": {text, shown, cut, seconds}}``,
``{"failed": text}``, ``{"no_answer": text, "timed_out": bool, "reported": bool}`` and
``{"tool": text}`` (`QueryFailedError`, `NoAnswerError`, `ToolError`). It ends with its input.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import resource
import sys
from typing import Any, Final

from pytest_llmeval.domains.heracles.bolt import (
    Bolt,
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
)
from pytest_llmeval.errors import ToolError

READY: Final = "ready"
_MEMORY_BYTES = 1 << 30
"""Address space of the process: a row of ten million numbers takes 400 MB."""


def main() -> None:
    """Answer until standard input ends."""
    if sys.platform == "linux":  # macOS knows the limit and does not hold it
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    settings = json.loads(sys.stdin.readline())
    limits = TimeLimits(server=settings.pop("server"), deadline=settings.pop("deadline"))
    with asyncio.Runner() as runner:
        runner.run(_serve(Login(**settings), limits))


async def _serve(login: Login, limits: TimeLimits) -> None:
    bolt = Bolt(login, limits)
    _send(READY)
    while line := await asyncio.to_thread(sys.stdin.readline):
        _send(json.dumps(await _answer(bolt, **json.loads(line))))
    await bolt.close()


async def _answer(bolt: Bolt, cypher: str, mark: str) -> dict[str, Any]:
    try:
        return {"rows": dataclasses.asdict(await bolt.ask(cypher, mark=mark))}
    except QueryFailedError as error:
        return {"failed": str(error)}
    except MemoryError:
        return {"failed": "the result is too large to be read"}
    except NoAnswerError as error:
        return {"no_answer": str(error), "timed_out": error.timed_out, "reported": error.reported}
    except ToolError as error:
        return {"tool": str(error)}


def _send(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main()
