"""The solver that puts the whole scene graph into the prompt."""

from __future__ import annotations

from typing import cast

import pytest
from domains.heracles.house import HOUSE, HouseContext
from scripted_context import solved

from pytest_llmeval.domains.heracles.in_context_solver import InContextSolver
from pytest_llmeval.domains.heracles.scene_text import Form, read_scene_text


@pytest.mark.parametrize("form", ["short", "full", "no_places"])
def test_the_scene_stands_in_the_prompt_in_the_form_that_the_task_wants(form: Form) -> None:
    context = HouseContext("<answer>9</answer>")
    completion = solved(InContextSolver(scene=HOUSE, form=form), context)
    (asked,) = context.asked
    assert (asked.stage, asked.parameters) == ("generate", None)
    assert [message.text for message in asked.messages] == [
        f"generate / form={form} / graph={read_scene_text(HOUSE, form)}"
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
