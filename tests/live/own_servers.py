"""The servers that a run starts itself, for the tests."""

from __future__ import annotations

import os

import pytest

from pytest_llmeval.domains.heracles.arcadedb_process import ArcadeDB
from pytest_llmeval.domains.heracles.neo4j_process import Neo4j
from pytest_llmeval.domains.heracles.server_process import ServerKind
from pytest_llmeval.errors import ToolError

KINDS: dict[str, ServerKind] = {"neo4j": Neo4j(), "arcadedb": ArcadeDB()}


def installed(name: str) -> ServerKind:
    """Return a server's kind; skip where it is not installed.

    LLMEVAL_REQUIRE_NEO4J=1 forbids the skip.
    """
    try:
        KINDS[name].check()
    except ToolError as reason:
        if os.environ.get("LLMEVAL_REQUIRE_NEO4J") == "1":
            pytest.fail(f"LLMEVAL_REQUIRE_NEO4J=1, but {reason}")
        pytest.skip(str(reason))
    return KINDS[name]
