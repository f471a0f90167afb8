"""The tool ``cypher`` in the hands of the agent, with a scripted database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from domains.heracles.house import HOUSE, ROWS, Graph
from scripted_context import solved
from solvers.agent.agent_context import Context, call, made, raw

from pytest_llmeval.domains.heracles.cypher_tool import TOOL_NAME, CypherTool
from pytest_llmeval.domains.heracles.scene_graph import read_class_names
from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.records import Completion, Reply
from pytest_llmeval.task.options import OptionError

QUERY = "MATCH (r:Room) RETURN count(r) AS n"
ANSWER = Reply(text="<answer>9</answer>")


def asked(context: Context) -> Completion:
    agent = made({"tools": {"cypher": {"scene": str(HOUSE)}}})
    return solved(agent, context)


def querying(*queries: str) -> Reply:
    return raw(*(call(json.dumps({"query": query}), TOOL_NAME) for query in queries))


def test_a_row_tells_the_queries_and_the_last_one() -> None:
    context = Context(querying("RETURN 1", QUERY), ANSWER, resource=Graph())
    completion = asked(context)
    assert context.results == [ROWS, ROWS]
    assert [use.stage for use in context.recorded] == ["turn 1", "turn 1"]
    assert completion.details == {
        "turns": 2,
        "calls": 2,
        "failed_calls": 0,
        "queries": 2,
        "failed_queries": 0,
        "cypher": QUERY,
        "valid_cypher": True,
        "rows": 1,
        "query_seconds": 0.5,
    }
    assert context.variables["classes"] == read_class_names(HOUSE)


def test_without_a_query_none_is_valid() -> None:
    details = asked(Context(ANSWER)).details
    assert (details["cypher"], details["valid_cypher"], details["queries"]) == (None, False, 0)


def test_a_failing_query_is_told_and_counted() -> None:
    graph = Graph(lambda query: ROWS if query == QUERY else ValueError("x?"))
    context = Context(querying("RETURN x"), querying(QUERY), ANSWER, resource=graph)
    details = asked(context).details
    assert context.results == ["The call failed: x?", ROWS]
    assert (details["valid_cypher"], details["failed_queries"]) == (True, 1)


def test_a_broken_database_is_not_the_models_fault() -> None:
    with pytest.raises(ToolError, match="gone"):
        asked(Context(querying(QUERY), ANSWER, resource=Graph(lambda _: ToolError("gone"))))


def test_a_scene_that_is_no_file_is_a_mistake_of_the_task(tmp_path: Path) -> None:
    with pytest.raises(OptionError) as refused:
        made({"tools": {"cypher": {"scene": "absent.json"}}}, tmp_path)
    assert refused.value.place[:2] == ("tools", "cypher")
    assert str(tmp_path / "absent.json") in str(refused.value)


def test_without_a_scene_a_server_must_be_named_before_a_request_is_paid() -> None:
    context = Context(querying(QUERY), ANSWER, resource=Graph())
    with pytest.raises(UsageError, match=r"names no scene.* --llmeval-graph bolt://HOST:PORT"):
        solved(made({"tools": {"cypher": {}}}), context)
    assert context.asked == []


def test_without_a_scene_the_named_server_answers_and_no_classes_are_known() -> None:
    context = Context(
        querying(QUERY), ANSWER, resource=Graph(), settings={"graph": "bolt://localhost"}
    )
    assert solved(made({"tools": {"cypher": None}}), context).text == ANSWER.text
    assert context.results == [ROWS]
    assert context.variables["classes"] == {}


def test_the_table_shows_how_many_last_queries_were_valid() -> None:
    assert made({"tools": {"cypher": {"scene": str(HOUSE)}}}).display == CypherTool.display
