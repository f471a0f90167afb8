"""The house of the fixtures, and a solver's context whose prompts are about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scripted_context import ScriptedContext

from pytest_llmeval.domains.heracles.scene_graph import read_class_names
from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import Json, Message, ToolUse

FOLDER = Path(__file__).parents[3] / "fixtures" / "heracles"
HOUSE = FOLDER / "scene.json"
ROWS = "n\n9\n(1 row)"


class HouseContext(ScriptedContext):
    """A context whose prompts must get the house's classes, and show all other variables."""

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        assert variables.pop("classes") == read_class_names(HOUSE)
        return super().prompt(stage, **variables)


class Graph:
    """A database that gives scripted rows."""

    def __init__(
        self, run: Callable[[str], str | Exception] = lambda _: ROWS, *, seconds: float = 0.5
    ) -> None:
        """Take what returns the rows of a query, a mistake, or what is raised, and its time."""
        self._run, self._seconds = run, seconds

    async def query(self, cypher: str, *, stage: str = "query") -> ToolUse:
        rows = self._run(cypher)
        if isinstance(rows, ToolError):
            raise rows
        text, error = ("", str(rows)) if isinstance(rows, Exception) else (rows, None)
        return ToolUse(
            stage=stage,
            tool="test",
            input=cypher,
            output=text,
            count=0 if error else 1,
            error=error,
            seconds=self._seconds,
        )
