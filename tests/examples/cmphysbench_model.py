"""A scripted model for examples/cmphysbench, which replies as cmphysbench.yaml says."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from pytest_llmeval.records import Request

FOLDER = Path(__file__).parent
PROBLEMS = FOLDER.parents[1] / "examples/cmphysbench/samples.json"


def reply(request: Request) -> str:
    """Return the planned reply to the problem that is asked."""
    planned = yaml.safe_load((FOLDER / "cmphysbench.yaml").read_text("utf-8"))
    replies = {one["id"]: one["reply"] for one in planned}
    asked = request.messages[-1].text
    [found] = [one for one in json.loads(PROBLEMS.read_text("utf-8")) if one["question"] in asked]
    return str(replies[str(found["id"])])
