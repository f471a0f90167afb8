"""An MCP server of the standard library alone that misbehaves: ``raw_server.py STEP FAULT``.

A call is answered by its number and its arguments. At a step (``start``, ``initialize``, ``list``
or ``call``) it dies, hangs, writes garbage or floods. It starts a child that never ends, and leaves
the numbers of both in the file ``pids``.
"""

# ruff: noqa: T201 - it speaks by its output

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

STEPS = {"initialize": "initialize", "tools/list": "list", "tools/call": "call"}
TOOL = {"name": "look.up", "inputSchema": {"type": "object"}, "description": "Looks up."}
OTHER = {"name": "other", "inputSchema": {"type": "object"}}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "raw", "version": "1"},
    },
    "tools/list": {"tools": [TOOL, OTHER]},
}


def say(**message: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def misbehave(step: str, fault: str, number: object) -> None:
    if fault == "die":
        print("no such thing", file=sys.stderr)
        os._exit(3)
    if fault == "garbage" and step != "start":
        say(id=number, result={"content": "nonsense"})
    while fault == "garbage" and step == "start":
        print("Loading, please wait.")
    while fault == "flood" and step == "start":
        sys.stdout.write("x" * 100_000)
    while fault == "flood":
        say(method="notifications/message", params={"level": "info", "data": "again"})
    time.sleep(1_000)


def main() -> None:
    at, fault = sys.argv[1:]
    child = subprocess.Popen(["sleep", "1000"])
    with Path("pids").open("a") as pids:
        pids.write(f"{os.getpid()} {child.pid}\n")
    if at == "start":
        misbehave(at, fault, None)
    count = 0
    for line in sys.stdin:
        request = json.loads(line)
        method, number = request["method"], request.get("id")
        if number is None:
            continue
        if STEPS.get(method) == at:
            misbehave(at, fault, number)
        elif method == "tools/call":
            count += 1
            text = f"{count} {json.dumps(request['params'].get('arguments'))}"
            say(id=number, result={"content": [{"type": "text", "text": text}]})
        elif method in RESULTS:
            say(id=number, result=RESULTS[method])
        else:
            say(id=number, error={"code": -32601, "message": "unknown"})


main()
