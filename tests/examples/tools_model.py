"""A scripted model for examples/tools, which calls tools by either way.

Record the example anew with: pytest examples/tools --llmeval-keep examples/tools/replies.jsonl
--llmeval-model python/./tests/examples/tools_model.py:reply
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_llmeval.records import Reply, Request, ToolCall

SCRIPTS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("tools_replies.json").read_text("utf-8")
)


def reply(request: Request) -> Reply:
    """Return the reply of the next turn."""
    asked = request.messages[0].text
    script = next(script for question, script in SCRIPTS.items() if asked.startswith(question))
    turn = sum(message.role == "assistant" for message in request.messages)
    if turn == len(script["calls"]):
        return Reply(text=f"By the tools:\n{script['answer']}")
    name, arguments = script["calls"][turn]["tool"], script["calls"][turn]["arguments"]
    if "tools" not in request.parameters:
        written = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        return Reply(text=f"<tool>{name}({written})</tool>")
    call = ToolCall(id="scripted", name=name, arguments=json.dumps(arguments))
    return Reply(text="", tool_calls=(call,), stop_reason="tool_calls")
