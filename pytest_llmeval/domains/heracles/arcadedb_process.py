"""The embedded ArcadeDB, which answers where no Neo4j is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import secrets
from typing import Final

from pytest_llmeval.domains.heracles.arcadedb_server import DATABASE, READER
from pytest_llmeval.domains.heracles.bolt import Login, TimeLimits
from pytest_llmeval.domains.heracles.model_query import Engine
from pytest_llmeval.domains.heracles.server_process import HEAP, OTHERWISE, Launch
from pytest_llmeval.errors import ToolError

_MISSING = (
    "this task asks a graph database, and none is given: install the embedded one with "
    "pip install '.[graph]' in the checkout; where pip finds no wheel of arcadedb-embedded for the "
    "platform ({platform} here; there are some for Linux with glibc 2.34 or newer, macOS 11 or "
    f"newer on Apple silicon, and Windows), {OTHERWISE}"
)


class ArcadeDB:
    """The `ServerKind` of ArcadeDB, whose queries run as a user who may only read records."""

    title: Final = "the embedded ArcadeDB"
    module: Final = "pytest_llmeval.domains.heracles.arcadedb_server"
    limits: Final = TimeLimits(server=5.0, deadline=10.0)
    ends_queries: Final = False

    def check(self) -> None:
        """Raise ToolError where it is not installed."""
        if importlib.util.find_spec("arcadedb_embedded") is None:
            raise ToolError(_MISSING.format(platform=platform.platform()))

    def engine(self) -> Engine:
        """Return what the records call it."""
        version = importlib.metadata.version("arcadedb-embedded")
        return Engine(name="arcadedb", agent=f"ArcadeDB/{version}", stands_in_for="Neo4j")

    def launch(self, limits: TimeLimits) -> Launch:
        """Return how a server is started."""
        root, reader = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        return Launch(
            request={"seconds": limits.server, "root": root, "reader": reader, "heap": HEAP},
            loader=Login(uri="", username="root", password=root, database=DATABASE),
            reader=Login(uri="", username=READER, password=reader, database=DATABASE),
        )
