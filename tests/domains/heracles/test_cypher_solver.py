"""The Cypher solver with scripted replies and a scripted database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.domains.heracles.cypher_solver import CypherSolver
from pytest_llmeval.domains.heracles.query import MISSING_TAGS
from pytest_llmeval.domains.heracles.scene_graph import read_class_names
from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.records import (
    Completion,
    Image,
    Json,
    Message,
    Operation,
    Reply,
    Sample,
    ToolUse,
)

HOUSE = Path(__file__).parents[3] / "fixtures" / "heracles" / "scene.json"
QUERY = "MATCH (r:Room) RETURN count(r) AS n"
SAMPLE = Sample(id="H02", input="How many rooms?", target="9")
ROWS = "n\n9\n(1 row)"
FOUND = {
    "cypher": QUERY,
    "valid_cypher": True,
    "rows": 1,
    "query_seconds": 0.25,
}


class Context:
    """Serves the solver from a script."""

    epoch = 1
    images: tuple[Image, ...] = ()
    graph: str | None = None

    def __init__(self, *replies: str, failures: Sequence[str] = ()) -> None:
        """Let the model say `replies` in turn, and the database fail with `failures` first."""
        self._replies, self._failures = list(replies), list(failures)
        self.asked: list[tuple[str, tuple[Message, ...]]] = []
        self.recorded: list[ToolUse] = []

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        assert variables.pop("classes") == read_class_names(HOUSE)
        return (
            Message.of(
                "user", " / ".join([stage, *(f"{key}={value}" for key, value in variables.items())])
            ),
        )

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",  # noqa: ARG002 - the solver's port
        draw: int = 0,  # noqa: ARG002
        parameters: dict[str, Json] | None = None,  # noqa: ARG002
    ) -> Reply:
        self.asked.append((stage, tuple(messages)))
        return Reply(
            text=self._replies.pop(0), stop_reason="length" if not self._replies else "stop"
        )

    def setting(self, name: str) -> str | None:
        assert name == "graph"
        return self.graph

    async def shared(
        self,
        key: str,
        start: Callable[[], Awaitable[Any]],  # noqa: ARG002 - opens nothing
    ) -> Any:
        assert str(HOUSE) in key
        return self

    def record(self, use: ToolUse) -> None:
        self.recorded.append(use)

    def tell(self, text: str) -> None:
        raise NotImplementedError

    async def query(self, cypher: str, *, stage: str = "query") -> ToolUse:
        error = self._failures.pop(0) if self._failures else None
        text, count = ("", 0) if error else (ROWS, 1)
        return ToolUse(
            stage=stage,
            tool="t",
            input=cypher,
            output=text,
            count=count,
            error=error,
            seconds=0.25,
        )

    def save_image(self, data: bytes) -> Image:
        raise NotImplementedError

    def note(self, stage: str, text: str) -> None:
        raise NotImplementedError


def solved(context: Context, *, repair: int = 0) -> Completion:
    async def solve() -> Completion:
        return await CypherSolver(scene=HOUSE, repair=repair)(SAMPLE, context)

    return asyncio.run(solve())


def tagged(text: str) -> str:
    return f"Reasons. <answer>{text}</answer>"


def test_the_model_is_shown_question_query_and_rows_and_its_last_reply_is_the_result() -> None:
    context = Context(tagged(QUERY), tagged("9"))
    completion = solved(context)
    assert [stage for stage, _ in context.asked] == ["generate", "refine"]
    assert context.asked[1][1][0].text == f"refine / query={QUERY} / rows={ROWS}"
    assert (completion.text, completion.answer, completion.stop_reason) == (
        tagged("9"),
        None,
        "length",
    )
    assert completion.details == {**FOUND, "turns": 2}
    assert [(use.stage, use.input, use.output) for use in context.recorded] == [
        ("generate", QUERY, ROWS)
    ]


def test_a_failing_query_is_never_carried_on_as_data() -> None:
    context = Context(tagged(QUERY), failures=["no such function"])
    completion = solved(context)
    assert [stage for stage, _ in context.asked] == ["generate"]
    assert completion.text == ""
    assert completion.details == {
        "valid_cypher": False,
        "turns": 1,
        "cypher": QUERY,
        "rows": 0,
        "query_seconds": 0.25,
        "reason": "no such function",
    }


@pytest.mark.parametrize("reply", ["", QUERY, "<answer>"])
def test_a_reply_without_a_query_has_a_reason_and_no_answer(reply: str) -> None:
    completion = solved(Context(reply))
    assert completion.text == ""
    assert (completion.details["valid_cypher"], completion.details["reason"]) == (
        False,
        MISSING_TAGS,
    )
    assert completion.details["cypher"] is None


def test_with_repair_a_failed_query_goes_back_once_with_the_reason() -> None:
    context = Context(tagged("RETURN x"), tagged(QUERY), tagged("9"), failures=["x is not defined"])
    completion = solved(context, repair=1)
    assert [stage for stage, _ in context.asked] == ["generate", "repair", "refine"]
    assert [message.role for message in context.asked[1][1]] == ["user", "assistant", "user"]
    assert context.asked[1][1][1].text == tagged("RETURN x")
    assert "x is not defined" in context.asked[1][1][2].text
    assert context.asked[2][1][0].text == f"refine / query={QUERY} / rows={ROWS}"
    assert completion.details == {**FOUND, "turns": 3}


def test_a_query_that_fails_after_its_repair_ends_without_an_answer() -> None:
    context = Context(tagged("RETURN x"), tagged("RETURN y"), failures=["x?", "y?"])
    completion = solved(context, repair=1)
    assert [stage for stage, _ in context.asked] == ["generate", "repair"]
    assert completion.text == ""
    assert (completion.details["cypher"], completion.details["reason"]) == ("RETURN y", "y?")
    assert completion.details["turns"] == 2


def test_a_repair_that_is_not_needed_costs_nothing() -> None:
    context = Context(tagged(QUERY), tagged("9"))
    assert solved(context, repair=3).details["turns"] == 2


def test_a_broken_database_is_not_the_models_fault() -> None:
    class Broken(Context):
        async def query(self, *_: object, **__: object) -> ToolUse:
            msg = "gone"
            raise ToolError(msg)

    with pytest.raises(ToolError):
        solved(Broken(tagged(QUERY)))


@pytest.mark.parametrize("repair", [-1, "1", True, 1.0])
def test_repair_is_a_whole_number(repair: int) -> None:
    with pytest.raises(ValueError, match="a whole number from 0"):
        CypherSolver(scene=HOUSE, repair=repair)


def test_a_scene_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"scene is '.*none\.json', but there is no such file"):
        CypherSolver(scene=tmp_path / "none.json")


def test_a_wrong_address_of_the_database_is_told_before_a_request_is_paid() -> None:
    context = Context(tagged(QUERY), tagged("9"))
    context.graph = "bolt://localhost,reset=no"
    with pytest.raises(UsageError, match="--llmeval-graph 'bolt://localhost,reset=no'"):
        solved(context)
    assert context.asked == []


def test_without_a_scene_a_server_must_be_named_before_a_request_is_paid() -> None:
    context = Context(QUERY)
    with pytest.raises(UsageError, match=r"names no scene.* --llmeval-graph bolt://HOST:PORT"):
        asyncio.run(CypherSolver()(SAMPLE, context))
    assert context.asked == []


def test_what_an_estimate_can_know_of_the_prompts_is_the_classes() -> None:
    solver = CypherSolver(scene=HOUSE)
    assert solver.variables() == {"classes": read_class_names(HOUSE), "query": "", "rows": ""}
    assert solver.stages == ("generate", "refine")
