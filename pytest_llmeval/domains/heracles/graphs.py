"""The graph databases of a run: one for each scene, opened when a sample first asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from pytest_llmeval.engine.ports import Graph


class Graphs:
    """Opens each scene's graph once, whoever asks first, and closes them all."""

    def __init__(self, open_graph: Callable[[Path], Awaitable[Graph]]) -> None:
        """Open by `open_graph`, which loads the scene in the given file."""
        self._open_graph = open_graph
        self._opening: dict[Path, asyncio.Task[Graph]] = {}

    async def get(self, scene: Path) -> Graph:
        """Return the graph of a scene. GraphError when it cannot be had, for everyone who asks."""
        if scene not in self._opening:
            self._opening[scene] = asyncio.create_task(self._open(scene))
        return await asyncio.shield(self._opening[scene])

    async def close(self) -> None:
        """Close the graphs that were opened, and stop opening."""
        for opening in self._opening.values():
            opening.cancel()
        for graph in await asyncio.gather(*self._opening.values(), return_exceptions=True):
            if not isinstance(graph, BaseException):
                await graph.close()

    async def _open(self, scene: Path) -> Graph:
        return await self._open_graph(scene)
