"""The solver that puts the whole scene graph into the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from pytest_llmeval.domains.heracles.in_context_solver import InContextSolver
from pytest_llmeval.domains.heracles.scene_graph import read_class_names
from pytest_llmeval.domains.heracles.scene_text import Form, read_scene_text
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.records import Completion, Json, Message, Reply, Sample

HOUSE = Path(__file__).parents[3] / "fixtures" / "heracles" / "scene.json"
SAMPLE = Sample(id="H02", input="How many rooms?", target="9")


class Context:
    """Replies with one text, and keeps what was asked."""

    def __init__(self, text: str) -> None:
        """Reply with `text`."""
        self._text = text
        self.asked: list[Message] = []

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        assert variables.pop("classes") == read_class_names(HOUSE)
        return (Message.of("user", f"{stage}: {variables.pop('graph')} {variables}"),)

    async def generate(self, messages: Sequence[Message]) -> Reply:
        self.asked += messages
        return Reply(text=self._text, stop_reason="length")


def solved(context: Context, form: Form) -> Completion:
    async def solve() -> Completion:
        solver = InContextSolver(scene=HOUSE, form=form)
        return await solver(SAMPLE, cast("SolverContext", context))

    return asyncio.run(solve())


@pytest.mark.parametrize("form", ["short", "full", "no_places"])
def test_the_scene_stands_in_the_prompt_in_the_form_that_the_task_wants(form: Form) -> None:
    context = Context("<answer>9</answer>")
    completion = solved(context, form)
    assert [message.text for message in context.asked] == [
        f"generate: {read_scene_text(HOUSE, form)} {{'form': '{form}'}}"
    ]
    assert (completion.text, completion.answer, completion.stop_reason) == (
        "<answer>9</answer>",
        None,
        "length",
    )
    assert completion.details == {"turns": 1}


@pytest.mark.parametrize("form", ["long", "", None])
def test_any_other_form_is_refused(form: str) -> None:
    with pytest.raises(ValueError, match="expected one of short, full, no_places"):
        InContextSolver(scene=HOUSE, form=cast("Form", form))


def test_an_estimate_knows_the_whole_prompt() -> None:
    solver = InContextSolver(scene=HOUSE)
    assert solver.variables()["graph"] == read_scene_text(HOUSE, "short")
    assert solver.stages == ("generate",)
