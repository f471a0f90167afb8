"""The Cypher solver with scripted replies and a scripted database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path

import pytest
from domains.heracles.house import HOUSE, ROWS, Graph, HouseContext
from scripted_context import solved, tagged

from pytest_llmeval.domains.heracles.cypher_solver import CypherSolver
from pytest_llmeval.domains.heracles.query import MISSING_TAGS
from pytest_llmeval.domains.heracles.scene_graph import read_class_names
from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.records import Completion

QUERY = "MATCH (r:Room) RETURN count(r) AS n"
FOUND = {
    "cypher": QUERY,
    "valid_cypher": True,
    "rows": 1,
    "query_seconds": 0.25,
}


def scripted(*replies: str, failures: Sequence[str] = (), graph: str | None = None) -> HouseContext:
    """Return a context whose database fails with `failures` first."""
    results: Iterator[str | Exception] = chain(map(ValueError, failures), repeat(ROWS))
    database = Graph(lambda _: next(results), seconds=0.25)
    return HouseContext(*replies, settings={"graph": graph}, resource=database)


def solved_by_query(context: HouseContext, *, repair: int = 0) -> Completion:
    completion = solved(CypherSolver(scene=HOUSE, repair=repair), context)
    assert all(str(HOUSE) in key for key in context.resources)
    return completion


def test_the_model_is_shown_question_query_and_rows_and_its_last_reply_is_the_result() -> None:
    context = scripted(tagged(QUERY), tagged("9"))
    completion = solved_by_query(context)
    assert context.stages == ["generate", "refine"]
    assert context.asked[1].messages[0].text == f"refine / query={QUERY} / rows={ROWS}"
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
    context = scripted(tagged(QUERY), failures=["no such function"])
    completion = solved_by_query(context)
    assert context.stages == ["generate"]
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
    completion = solved_by_query(scripted(reply))
    assert completion.text == ""
    assert (completion.details["valid_cypher"], completion.details["reason"]) == (
        False,
        MISSING_TAGS,
    )
    assert completion.details["cypher"] is None


def test_with_repair_a_failed_query_goes_back_once_with_the_reason() -> None:
    context = scripted(
        tagged("RETURN x"), tagged(QUERY), tagged("9"), failures=["x is not defined"]
    )
    completion = solved_by_query(context, repair=1)
    assert context.stages == ["generate", "repair", "refine"]
    assert [message.role for message in context.asked[1].messages] == ["user", "assistant", "user"]
    assert context.asked[1].messages[1].text == tagged("RETURN x")
    assert "x is not defined" in context.asked[1].messages[2].text
    assert context.asked[2].messages[0].text == f"refine / query={QUERY} / rows={ROWS}"
    assert completion.details == {**FOUND, "turns": 3}


def test_a_query_that_fails_after_its_repair_ends_without_an_answer() -> None:
    context = scripted(tagged("RETURN x"), tagged("RETURN y"), failures=["x?", "y?"])
    completion = solved_by_query(context, repair=1)
    assert context.stages == ["generate", "repair"]
    assert completion.text == ""
    assert (completion.details["cypher"], completion.details["reason"]) == ("RETURN y", "y?")
    assert completion.details["turns"] == 2


def test_a_repair_that_is_not_needed_costs_nothing() -> None:
    context = scripted(tagged(QUERY), tagged("9"))
    assert solved_by_query(context, repair=3).details["turns"] == 2


def test_a_broken_database_is_not_the_models_fault() -> None:
    broken = Graph(lambda _: ToolError("gone"))
    context = HouseContext(tagged(QUERY), settings={"graph": None}, resource=broken)
    with pytest.raises(ToolError):
        solved_by_query(context)


@pytest.mark.parametrize("repair", [-1, "1", True, 1.0])
def test_repair_is_a_whole_number(repair: int) -> None:
    with pytest.raises(ValueError, match="a whole number from 0"):
        CypherSolver(scene=HOUSE, repair=repair)


def test_a_scene_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"scene is '.*none\.json', but there is no such file"):
        CypherSolver(scene=tmp_path / "none.json")


def test_a_wrong_address_of_the_database_is_told_before_a_request_is_paid() -> None:
    context = scripted(tagged(QUERY), tagged("9"), graph="bolt://localhost,reset=no")
    with pytest.raises(UsageError, match="--llmeval-graph 'bolt://localhost,reset=no'"):
        solved_by_query(context)
    assert context.asked == []


def test_without_a_scene_a_server_must_be_named_before_a_request_is_paid() -> None:
    context = scripted(QUERY)
    with pytest.raises(UsageError, match=r"names no scene.* --llmeval-graph bolt://HOST:PORT"):
        solved(CypherSolver(), context)
    assert context.asked == []


def test_what_an_estimate_can_know_of_the_prompts_is_the_classes() -> None:
    solver = CypherSolver(scene=HOUSE)
    assert solver.variables() == {"classes": read_class_names(HOUSE), "query": "", "rows": ""}
    assert solver.stages == ("generate", "refine")
