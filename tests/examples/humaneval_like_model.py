"""A scripted model for examples/humaneval_like: humaneval_like.yaml has its replies by epoch."""

from __future__ import annotations

from pathlib import Path

import yaml

from pytest_llmeval.records import Request

FOLDER = Path(__file__).parent


def reply(request: Request) -> str:
    """Return the planned reply to the function that is asked for, of the request's epoch."""
    planned = yaml.safe_load((FOLDER / "humaneval_like.yaml").read_text("utf-8"))
    asked = request.messages[-1].text
    [found] = [one["replies"] for name, one in planned.items() if f"def {name}(" in asked]
    return str(found[request.epoch - 1])
