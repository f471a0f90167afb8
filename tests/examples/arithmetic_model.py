"""A scripted model for examples/arithmetic, which calls tools by either way."""

from __future__ import annotations

import json
from typing import Any

from pytest_llmeval.records import Reply, Request, ToolCall

TURNS: dict[str, tuple[list[tuple[str, dict[str, Any]]], str]] = {
    "nails": ([("multiply", {"numbers": [4711, 389]})], "1832579"),
    "gardens": ([("divide", {"dividend": 1000, "divisor": 7})], "142.8571"),
    "0 go into": ([("divide", {"dividend": 12, "divisor": 0})], "none"),
    "eggs": (
        [
            ("multiply", {"numbers": [12, 144]}),
            ("divide", {"dividend": 1728, "divisor": 30}),
        ],
        "57",  # rounded down
    ),
}


def reply(request: Request) -> Reply:
    """Return the reply of the next turn."""
    calls, answer = next(
        script for word, script in TURNS.items() if word in request.messages[0].text
    )
    turn = sum(message.role == "assistant" for message in request.messages)
    if turn == len(calls):
        return Reply(text=f"<answer>{answer}</answer>")
    name, arguments = calls[turn]
    if "tools" not in request.parameters:
        written = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        return Reply(text=f"<tool>{name}({written})</tool>")
    call = ToolCall(id="scripted", name=name, arguments=json.dumps(arguments))
    return Reply(text="", tool_calls=(call,), stop_reason="tool_calls")
