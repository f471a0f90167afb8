"""The heracles tasks on recorded replies, with real queries on the database that is installed."""

from __future__ import annotations

import importlib.util
import os
import pty
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.benchmark_session import OPTIONS, ROOT, newest_rows

from pytest_llmeval.domains.heracles.neo4j_jars.installed import missing


@pytest.fixture(scope="module", autouse=True)
def database() -> None:
    """Skip where no graph database is installed."""
    if missing() is not None and importlib.util.find_spec("arcadedb_embedded") is None:
        pytest.skip("neither Neo4j nor arcadedb-embedded is installed")


@pytest.fixture(scope="module")
def rows(recorded: Path) -> list[dict[str, Any]]:
    """Return the rows of the tasks about questions."""
    tasks = {
        "heracles",
        "heracles_agent",
        "heracles_in_context",
        "heracles_in_context_no_places",
        "heracles_python",
        "heracles_python_agent",
    }
    return [row for row in newest_rows(recorded) if row["task"] in tasks]


def of(rows: list[dict[str, Any]], task: str) -> dict[str, dict[str, Any]]:
    return {row["sample"]: row for row in rows if row["task"] == task}


def test_every_recorded_reply_is_found_and_every_sample_scored(rows: list[dict[str, Any]]) -> None:
    assert [
        row["explanation"] for row in rows if row["outcome"] not in {"correct", "incorrect"}
    ] == []
    right = Counter((row["task"], row["outcome"]) for row in rows)
    assert right == {
        ("heracles", "correct"): 27,
        ("heracles", "incorrect"): 16,
        ("heracles_agent", "correct"): 37,
        ("heracles_agent", "incorrect"): 6,
        ("heracles_in_context", "correct"): 28,
        ("heracles_in_context", "incorrect"): 15,
        ("heracles_in_context_no_places", "correct"): 31,
        ("heracles_in_context_no_places", "incorrect"): 12,
        ("heracles_python", "correct"): 28,
        ("heracles_python", "incorrect"): 15,
        ("heracles_python_agent", "correct"): 38,
        ("heracles_python_agent", "incorrect"): 5,
    }


def test_every_row_names_the_engine_that_answered_and_what_it_stood_in_for(
    rows: list[dict[str, Any]],
) -> None:
    found = {(row["engine"], row["stands_in_for"]) for row in rows if "cypher" in row["details"]}
    by_default = ("neo4j", "") if missing() is None else ("arcadedb", "Neo4j")
    assert found == {("", ""), by_default}
    asked = [row for row in rows if row["details"].get("valid_cypher")]
    assert len(asked) > 70
    assert all(row["engine"] for row in asked)
    assert {row["engine"] for row in of(rows, "heracles_in_context").values()} == {""}


def test_an_agents_row_tells_its_turns_queries_and_last_cypher(rows: list[dict[str, Any]]) -> None:
    agent = of(rows, "heracles_agent")
    told = {
        uid: (row["details"]["turns"], row["details"]["queries"], row["details"]["failed_queries"])
        for uid, row in agent.items()
    }
    assert told["H01"] == (2, 1, 0)
    assert told["H04"] == (3, 3, 0)
    assert told["H11"] == (3, 2, 1)
    assert told["H14"] == (3, 1, 0)
    assert told["H27"] == (1, 0, 0)
    assert told["H32"] == (8, 7, 0)
    assert (
        agent["H32"]["details"]["reason"] == "the model still called tools in the last of 8 turns"
    )
    assert [uid for uid, row in agent.items() if not row["details"]["valid_cypher"]] == ["H27"]
    assert all(row["usage"]["output_tokens"] > 0 for row in agent.values())
    assert agent["H11"]["details"]["rows"] == 2


def test_what_a_pipelines_row_tells_of_its_query(rows: list[dict[str, Any]]) -> None:
    pipeline = of(rows, "heracles")
    details = pipeline["H08"]["details"]
    assert (details["valid_cypher"], details["rows"], details["turns"]) == (True, 5, 2)
    assert [score["details"] for score in pipeline["H08"]["scores"]] == [{"valid_sldp": True}]
    assert details["query_seconds"] > 0
    refused = pipeline["H11"]
    assert refused["details"]["valid_cypher"] is False
    assert str(refused["details"]["reason"]) in refused["explanation"]


def test_what_a_pipelines_row_tells_of_its_program(rows: list[dict[str, Any]]) -> None:
    pipeline = of(rows, "heracles_python")
    details = pipeline["H08"]["details"]
    assert (details["valid_python"], details["turns"]) == (True, 2)
    assert "def solve_task(G)" in details["python"]
    assert details["seconds"] > 0
    failed = {uid for uid, row in pipeline.items() if not row["details"]["valid_python"]}
    assert failed == {"H11", "H14", "H20", "H29", "H30", "H32", "H43"}
    for uid in failed:
        assert str(pipeline[uid]["details"]["reason"]) in pipeline[uid]["explanation"]
    assert "Operation not permitted" in pipeline["H11"]["explanation"]


def test_an_agents_row_tells_its_programs(rows: list[dict[str, Any]]) -> None:
    agent = of(rows, "heracles_python_agent")
    told = {
        uid: (row["details"]["programs"], row["details"]["failed_programs"])
        for uid, row in agent.items()
    }
    assert [told[uid] for uid in ("H01", "H02", "H06", "H11", "H20")] == [
        (1, 0),
        (2, 0),
        (0, 0),
        (2, 1),
        (3, 1),
    ]


def test_a_serial_run_says_at_once_what_it_waits_for() -> None:
    """The database takes seconds to start, and with one process the first test waits for it."""
    command = [sys.executable, "-m", "pytest", *OPTIONS]
    options = ["--tb=short", "-v", "-k", "test_agent and h01", "--llmeval-limit", "1"]
    lines = list(terminal_lines([*command, "benchmarks/heracles", *options]))
    (started,) = [
        index for index, line in enumerate(lines) if line.startswith("llmeval: graph: starting ")
    ]
    (passed,) = [index for index, line in enumerate(lines) if "PASSED" in line]
    assert started < passed, lines


def terminal_lines(command: list[str]) -> Iterator[str]:
    """Yield the lines that a command writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as terminal:
            written = b""
            while True:
                try:
                    data = terminal.read(4096)
                except OSError:  # how Linux tells that nobody holds the other end
                    data = b""
                if not data:
                    break
                written += data
    yield from written.decode().splitlines()
