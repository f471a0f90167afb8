"""MCP servers that die, hang, write garbage or flood, at each step."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted_context import SAMPLE
from solvers.agent.agent_context import Context, made
from solvers.mcp.agents import ANSWER, HERE, answered, calling_tool, living

from pytest_llmeval.errors import ToolError

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

SERVER = str(HERE / "raw_server.py")
STEPS = {
    "start": "was started",
    "initialize": "was started",
    "list": "listed",
    "call": "ran look.up",
}
TOLD = {
    "die": "ended; run the command in that folder to see why. It ended with status 3. "
    "It said: no such thing",
    "hang": "did not answer within 0.7 s; look why, or raise its `timeout`",
    "garbage": "answered otherwise than the protocol asks",
    "flood": "its standard output is for messages of the protocol alone",
}


def options(step: str, fault: str, **more: Any) -> dict[str, Any]:
    timeout = 0.7 if fault == "hang" else 20.0
    return {"command": "python", "args": [SERVER, step, fault], "timeout": timeout, **more}


@pytest.mark.parametrize("fault", TOLD)
@pytest.mark.parametrize("step", STEPS)
def test_a_fault_is_one_error_that_names_server_command_and_fix_and_leaves_no_process(
    step: str, fault: str, tmp_path: Path
) -> None:
    servers = {"oracle": options(step, fault)}
    with pytest.raises(ToolError) as raised:
        answered(servers, calling_tool("look_up"), folder=tmp_path)
    told = str(raised.value)
    assert told.startswith(f"MCP server 'oracle' (`python {SERVER} {step} {fault}` in {tmp_path})")
    if (step, fault) == ("start", "garbage"):
        fault = "flood"
    assert TOLD[fault] in told
    if fault != "hang":  # a slow machine may not get as far
        assert f"while it {STEPS[step]}" in told
    assert living(tmp_path) == []


def test_half_of_a_surrogate_pair_in_a_result_or_an_error_is_one_question_mark(
    tmp_path: Path,
) -> None:
    text, fault = 'text = f"', r'error={"code": 1, "message": "no \ud83d"}'
    source = Path(SERVER).read_text()
    assert text in source
    once = f"if count == 2:\n                say(id=number, {fault})\n            "
    (tmp_path / "odd.py").write_text(source.replace(text, once + r'text = f"cut \ud83d '))
    server = {"command": "python", "args": ["odd.py", "never", "at all"], "timeout": 20.0}
    calls = [calling_tool("look_up"), calling_tool("look_up")]
    _, (first, second) = answered({"odd": server}, *calls, folder=tmp_path)
    assert (first.output, second.error) == ("cut ? 1 {}", "no ?")


def test_a_sample_without_a_call_has_no_process_and_a_quiet_server_leaves_none(
    tmp_path: Path,
) -> None:
    servers = {"oracle": options("never", "at all")}
    (completion,), _ = answered(servers, folder=tmp_path)
    assert completion.text == "done"
    assert len((tmp_path / "pids").read_text().splitlines()) == 1
    assert living(tmp_path) == []


def test_a_name_that_providers_refuse_is_offered_as_one_that_they_take(tmp_path: Path) -> None:
    servers = {"oracle": options("never", "at all")}
    _, (use,) = answered(servers, calling_tool("look_up"), folder=tmp_path)
    assert (use.tool, use.output, use.engine) == ("look_up", "1 {}", "oracle")


def test_a_server_that_hangs_holds_a_sample_no_longer_than_its_time(tmp_path: Path) -> None:
    servers = {"oracle": options("call", "hang", timeout=100.0)}
    (completion,), _ = answered(servers, calling_tool("look_up"), folder=tmp_path, max_seconds=0.05)
    assert "max_seconds" in str(completion.details["reason"])
    assert living(tmp_path) == []


def test_a_shared_server_that_died_is_started_anew_for_the_next_sample(tmp_path: Path) -> None:
    solver = made({"mcp": {"oracle": options("call", "die", shared=True)}}, tmp_path)

    async def run() -> None:
        context = Context(calling_tool("look_up"))
        for _ in range(2):
            with pytest.raises(ToolError, match="ended with status 3"):
                await solver(SAMPLE, context)
        for one in context.resources.values():
            if hasattr(one, "close"):
                await one.close()

    asyncio.run(run())
    assert len((tmp_path / "pids").read_text().splitlines()) == 2
    assert living(tmp_path) == []


def test_a_sample_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    solver = made({"mcp": {"oracle": options("call", "hang", timeout=100.0)}}, tmp_path)

    async def run() -> None:
        context = Context(calling_tool("look_up"))
        task = asyncio.ensure_future(solver(SAMPLE, context))
        while not context.asked:  # noqa: ASYNC110 - nothing tells it
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert living(tmp_path) == []


KILLED = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from solvers.mcp.agents import calling_tool, answered
answered({servers}, calling_tool("look_up"), folder=Path({folder!r}))
"""


def test_a_run_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    servers = {"oracle": options("list", "hang", timeout=100.0)}
    code = KILLED.format(tests=str(HERE.parents[1]), servers=servers, folder=str(tmp_path))
    run = subprocess.Popen([sys.executable, "-c", code])
    pids = tmp_path / "pids"
    while not (pids.exists() and pids.read_text().endswith("\n")):
        assert run.poll() is None
    run.send_signal(signal.SIGKILL)
    run.wait()

    async def gone() -> None:
        async with asyncio.timeout(20):
            while living(tmp_path):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.02)

    asyncio.run(gone())


def test_hundreds_of_tools_are_refused_with_the_fix_and_some_of_them_are_offered(
    tmp_path: Path,
) -> None:
    many = [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(300)]
    server = tmp_path / "many.py"
    server.write_text(Path(SERVER).read_text().replace("[TOOL, OTHER]", json.dumps(many)))
    told = {"command": "python", "args": ["many.py", "never", "at all"]}
    with pytest.raises(ToolError, match=r"lists 300 tools, and 128 are the most .* its `tools`"):
        answered({"many": told}, folder=tmp_path)
    (completion,), _ = answered({"many": {**told, "tools": ["t7", "t299"]}}, folder=tmp_path)
    assert completion.text == ANSWER.text
    with pytest.raises(ToolError, match=r"has no tool 't300', only t0, t1, .*; mend its `tools`"):
        answered({"many": {**told, "tools": ["t300"]}}, folder=tmp_path)


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ([], "lists no tools"),
        ([{"name": "a", "inputSchema": {"type": "string"}}], "inputSchema.type: Input should be"),
        (
            [{"name": "a", "inputSchema": {"type": "object", "properties": 7}}],
            "properties|whose arguments cannot be checked",
        ),
        (
            [{"name": "a", "inputSchema": {"type": "object"}, "description": "x" * 300_000}],
            "describes its tools in 300,0.. characters",
        ),
        (
            [{"name": name, "inputSchema": {"type": "object"}} for name in ("a.b", "a/b")],
            "two tools are called 'a_b'",
        ),
    ],
)
def test_tools_that_cannot_be_offered_are_told_before_anything_is_asked(
    tools: list[Any], problem: str, tmp_path: Path
) -> None:
    server = tmp_path / "odd.py"
    server.write_text(Path(SERVER).read_text().replace("[TOOL, OTHER]", json.dumps(tools)))
    with pytest.raises(ToolError, match=problem):
        answered(
            {"odd": {"command": "python", "args": ["odd.py", "never", "at all"]}}, folder=tmp_path
        )
    assert living(tmp_path) == []
