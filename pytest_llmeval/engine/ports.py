"""What the engine needs of the outside: a provider of models, and a graph database."""

from __future__ import annotations

from typing import Protocol

from pytest_llmeval.records import GraphQuery, Image, Reply, Request


class Provider(Protocol):
    """One way to reach models. Raises ProviderError, whose `reach` says what the failure ends."""

    async def send(self, request: Request) -> Reply:
        """Send one request once (retries are the engine's) and return the reply."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class ImageStore(Protocol):
    """Keeps pictures by digest, once each."""

    def load(self, path: str) -> Image:
        """Return a dataset's picture as it is sent, scaled down if it is large; TaskError when it is no picture."""
        ...

    def save(self, data: bytes) -> Image:
        """Store the bytes and return the image; ValueError when they are no picture."""
        ...


class Graph(Protocol):
    """A loaded graph database that answers a model's read-only queries."""

    async def query(self, cypher: str, *, stage: str = "query") -> GraphQuery:
        """Run one query; what the model did wrong is in `error`, what the database did wrong is a GraphError."""
        ...

    async def close(self) -> None:
        """Disconnect, and stop the server if it is ours."""
        ...
