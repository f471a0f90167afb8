"""Agents with MCP servers, run on one sample; and what is left of their processes."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripted_context import SAMPLE
from solvers.agent.agent_context import Context, call, made, raw

from pytest_llmeval.records import Completion, Reply, ToolUse

HERE = Path(__file__).parent
ANSWER = Reply(text="done")


def calling_tool(name: str, **arguments: Any) -> Reply:
    return raw(call(json.dumps(arguments), name))


def answered(
    servers: Mapping[str, Any], *replies: Reply, folder: Path = HERE, samples: int = 1, **more: Any
) -> tuple[list[Completion], list[ToolUse]]:
    """Run an agent with servers on some samples, one after another, and end the run.

    The model gives the replies in turn, and then answers.
    """
    solver = made({"mcp": dict(servers), **more}, folder)

    async def run() -> tuple[list[Completion], list[ToolUse]]:
        context = Context(*replies, ANSWER)
        try:
            return [await solver(SAMPLE, context) for _ in range(samples)], context.recorded
        finally:
            for one in context.resources.values():
                if hasattr(one, "close"):
                    await one.close()

    return asyncio.run(run())


def living(folder: Path) -> list[int]:
    """Return which of the processes in the file ``pids`` live."""
    pids = (folder / "pids").read_text().split()
    listed = subprocess.run(
        ["ps", "-o", "pid=,stat=", "-p", ",".join(pids)],
        capture_output=True,
        text=True,
        check=False,
    )
    states = (line.split() for line in listed.stdout.splitlines())
    return [int(pid) for pid, state in states if not state.startswith("Z")]
