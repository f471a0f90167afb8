"""The processes that read rows: their end, and the bad news that they bring."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import pytest

from pytest_llmeval.domains.heracles import readers
from pytest_llmeval.domains.heracles.bolt import (
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
)
from pytest_llmeval.domains.heracles.readers import Readers
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.errors import ToolError

ROWS: dict[str, Any] = {"text": "n\n1\n(1 row)", "shown": 1, "cut": None, "seconds": 0.5}
CHILD = """
import json, os, sys, time
sys.stdin.readline()
print("ready", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["cypher"] == "die":
        os._exit(1)
    if request["cypher"] == "compute":
        while True:
            pass
    print(request["cypher"], flush=True)
"""


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Readers:
    """Return readers whose processes answer with the query itself."""
    monkeypatch.setattr(readers, "_COMMAND", (sys.executable, "-c", CHILD))
    login = Login(uri="bolt://127.0.0.1:1", username="u", password="p")  # noqa: S106 - of nobody
    return Readers(login, TimeLimits(server=0.5, deadline=1.0))


async def asked(pool: Readers, *queries: str) -> list[RowsText | BaseException]:
    try:
        return [*(await asyncio.gather(*map(pool.ask, queries), return_exceptions=True))]
    finally:
        await pool.close()


def test_a_process_that_cannot_be_spawned_is_an_error_of_the_tool(
    pool: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_COMMAND", ("/absent/python",))
    (error,) = asyncio.run(asked(pool, "RETURN 1"))
    assert isinstance(error, ToolError)
    assert "could not be started" in str(error)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"failed": "wrong"}, QueryFailedError),
        ({"no_answer": "lost", "timed_out": True, "reported": False}, NoAnswerError),
        ({"tool": "refused"}, ToolError),
    ],
)
def test_each_error_arrives_as_what_it_is(
    pool: Readers, reply: dict[str, object], error: type[Exception]
) -> None:
    [found] = asyncio.run(asked(pool, json.dumps(reply)))
    assert type(found) is error
    assert str(found) == next(iter(reply.values()))


def test_one_that_dies_or_computes_for_ever_is_replaced(pool: Readers) -> None:
    async def one_after_the_other() -> list[RowsText | BaseException]:
        found = [
            *await asyncio.gather(pool.ask("die"), return_exceptions=True),
            *await asyncio.gather(pool.ask("compute"), return_exceptions=True),
        ]
        return [*found, *await asked(pool, json.dumps({"rows": ROWS}))]

    died, late, rows = asyncio.run(one_after_the_other())
    assert isinstance(died, NoAnswerError)
    assert isinstance(late, NoAnswerError)
    assert (died.timed_out, late.timed_out) == (False, True)
    assert rows == RowsText(**ROWS)


def test_no_process_is_left_behind(pool: Readers) -> None:
    async def ids() -> list[int]:
        await asyncio.gather(*(pool.ask(json.dumps({"rows": ROWS})) for _ in range(3)))
        found = [process.pid for process in pool._idle]
        await pool.close()
        return found

    for process_id in asyncio.run(ids()):
        with pytest.raises(ProcessLookupError):
            os.kill(process_id, 0)
