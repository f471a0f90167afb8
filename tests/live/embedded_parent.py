"""A process that starts a server of its own, says where it runs, and waits to be killed."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from live.own_servers import KINDS

from pytest_llmeval.domains.heracles.embedded import EmbeddedGraph
from pytest_llmeval.domains.heracles.scene_graph import read_scene


async def main() -> None:
    graph = await EmbeddedGraph.start(KINDS[sys.argv[2]], read_scene(Path(sys.argv[1])))
    assert graph._server is not None
    print(graph.process_id, graph._server.folder, flush=True)  # noqa: T201 - told to the test
    await asyncio.Event().wait()


# Whoever runs the tests in the background has Ctrl-C ignored, and this process would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
