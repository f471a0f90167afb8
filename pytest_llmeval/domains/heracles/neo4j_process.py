"""A Neo4j of our own, on jars that ``llmeval graph install`` has fetched."""

from __future__ import annotations

import secrets
from typing import Final

from pytest_llmeval.domains.heracles.bolt import Login, TimeLimits
from pytest_llmeval.domains.heracles.model_query import Engine
from pytest_llmeval.domains.heracles.neo4j import LIMITS
from pytest_llmeval.domains.heracles.neo4j_jars.installed import class_path, java_library, missing
from pytest_llmeval.domains.heracles.neo4j_jars.locked import VERSION
from pytest_llmeval.domains.heracles.neo4j_server import DATABASE, USER
from pytest_llmeval.domains.heracles.server_process import HEAP, OTHERWISE, Launch
from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import Json


class Neo4j:
    """The `ServerKind` of Neo4j, whose database is made read-only after the scene is loaded."""

    title: Final = f"Neo4j {VERSION}"
    module: Final = "pytest_llmeval.domains.heracles.neo4j_server"
    limits: Final = LIMITS
    ends_queries: Final = True

    def check(self) -> None:
        """Raise ToolError where it is not installed."""
        if (problem := missing()) is not None:
            msg = f"Neo4j is not installed: {problem}; or {OTHERWISE}"
            raise ToolError(msg)

    def engine(self) -> Engine:
        """Return what the records call it, with the version as the server itself states it."""
        return Engine(name="neo4j", agent=f"Neo4j/{VERSION}")

    def launch(self, limits: TimeLimits) -> Launch:  # noqa: ARG002 - each query brings its limit
        """Return how a server is started."""
        password = secrets.token_urlsafe(24)
        login = Login(uri="", username=USER, password=password, database=DATABASE)
        request: dict[str, Json] = {
            "password": password,
            "heap": HEAP,
            "jvm": str(java_library()),
            "jars": [*map(str, class_path())],
        }
        return Launch(request=request, loader=login, reader=login)
