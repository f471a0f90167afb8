"""Queries for Neo4j 5 adapted to ArcadeDB: refused, rewritten or doubted, without an engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.domains.heracles.dialect import adapt, property_types
from pytest_llmeval.domains.heracles.query import preflight
from pytest_llmeval.domains.heracles.scene_graph import read_scene

DATA = Path(__file__).with_name("data") / "engines"
ROOT = Path(__file__).parents[3]
PROPERTIES = property_types(read_scene(ROOT / "fixtures" / "heracles" / "scene.json"))
REFUSALS: list[dict[str, str]] = yaml.safe_load((DATA / "refusals.yaml").read_text("utf-8"))
REWRITES: list[dict[str, str]] = yaml.safe_load((DATA / "rewrites.yaml").read_text("utf-8"))


def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return found


def test_the_types_of_the_scenes_properties_are_known() -> None:
    assert PROPERTIES == {
        "nodeSymbol": "String",
        "center": "Point",
        "bbox_center": "Point",
        "bbox_dim": "Point",
        "class": "String",
        "name": "String",
    }


@pytest.mark.parametrize("name", ["development", "held_out"])
def test_nothing_that_neo4j_answers_is_refused(name: str) -> None:
    answered = [case for case in cases(name) if not case["error"]]
    assert len(answered) > 150
    refused = {case["cypher"]: adapt(case["cypher"], PROPERTIES) for case in answered}
    assert {
        cypher: found.refusal
        for cypher, found in refused.items()
        if found.refusal and not found.needs_rows
    } == {}


@pytest.mark.parametrize("name", ["development", "held_out"])
def test_refusals_are_in_the_words_of_neo4j(name: str) -> None:
    """Nine of ten begin as Neo4j's message does; the others name a value of the database."""
    told = [
        (refusal, case["error"])
        for case in cases(name)
        if (refusal := adapt(case["cypher"], PROPERTIES).refusal)
    ]
    assert len(told) > 90
    other = [
        (refusal, error)
        for refusal, error in told
        if refusal.partition(": expected")[0][:110] not in error
    ]
    assert len(other) <= 0.15 * len(told), other


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["error"].partition(": ")[2][:40])
def test_each_kind_of_refusal_is_that_of_neo4j_to_the_letter(case: dict[str, str]) -> None:
    assert adapt(case["query"], PROPERTIES).refusal == case["error"]


def test_most_of_what_neo4j_rejects_is_refused() -> None:
    rejected = [case["cypher"] for case in cases("held_out") if case["error"]]
    passed = [cypher for cypher in rejected if adapt(cypher, PROPERTIES).refusal is None]
    assert len(passed) <= 0.05 * len(rejected), passed


@pytest.mark.parametrize("case", REWRITES, ids=lambda case: case["name"])
def test_each_class_is_mended(case: dict[str, str]) -> None:
    adapted = adapt(case["query"], PROPERTIES)
    assert (adapted.refusal, adapted.text) == (None, case.get("sent", case["query"]))
    assert (adapted.doubt or "") == case.get("doubt", "")


@pytest.mark.parametrize(
    "query",
    [
        (
            "MATCH (r:Room) OPTIONAL MATCH (r)-[:CONTAINS]->(m:MeshPlace) "
            "RETURN r.nodeSymbol, count(m) AS n"
        ),
        "MATCH (r:Room) WHERE NOT (r)-[:CONTAINS]->(:Place) RETURN r",
        "MATCH (r:Room) WITH r ORDER BY r.class LIMIT 3 RETURN r.class",
        (
            "MATCH p = shortestPath((a:Room)-[*..5]-(b:Room)) "
            "WHERE a <> b AND length(p) <= 4 RETURN length(p)"
        ),
    ],
)
def test_what_both_engines_answer_alike_is_sent_as_it_is(query: str) -> None:
    assert (adapt(query, PROPERTIES).text, adapt(query, PROPERTIES).doubt) == (query, None)


def test_a_stop_that_needs_rows_is_told_apart_from_an_error_of_the_query() -> None:
    at_the_end = adapt("MATCH (r:Room) RETURN r.center.lat", PROPERTIES)
    before = adapt("MATCH (r:Room) WHERE r.class RETURN r", PROPERTIES)
    assert (at_the_end.needs_rows, before.needs_rows) == (True, False)
    assert at_the_end.refusal == "Neo.ClientError.Statement.ArgumentError: No such field: lat"


def test_the_columns_are_called_as_in_the_query() -> None:
    assert adapt("MATCH (b)-->(a) RETURN *, a.x + 1, b AS c", PROPERTIES).columns == (
        "a",
        "b",
        "a.x + 1",
        "c",
    )


@pytest.mark.parametrize(
    ("open_", "close"), [("(", ")"), ("[", "]"), ("{a: ", "}"), ("CASE WHEN true THEN ", " END")]
)
def test_the_deepest_nesting_that_is_run_can_be_read(open_: str, close: str) -> None:
    assert adapt(f"RETURN {open_ * 64}1{close * 64}", PROPERTIES).doubt is None


def test_what_cannot_be_followed_is_flagged_and_not_refused() -> None:
    adapted = adapt(f"MATCH (a) WHERE {' AND '.join(['a.x = 1'] * 480)} RETURN a", PROPERTIES)
    assert (adapted.refusal, adapted.doubt) == (None, "it nests too deeply to be checked")


SOUP = """
MATCH OPTIONAL WITH RETURN WHERE UNWIND CALL UNION ALL AS DISTINCT ORDER BY LIMIT SKIP EXISTS COUNT
COLLECT CASE WHEN THEN ELSE END NOT AND OR IN IS NULL any reduce shortestPath SHORTEST
point.distance count size a b r x :Room
( ) [ ] { } - -- --> <-- -[ ]-> . .. , : | & ! % * + / = <> <= =~ $p 1 2.5 'text' `name` //c /*c*/ ;
"""


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(SOUP.split()), max_size=25).map(" ".join))
def test_no_text_breaks_the_reader(text: str) -> None:
    adapted = adapt(f"MATCH (a)-->(b) {text}", PROPERTIES)
    assert adapted.text or adapted.refusal


@pytest.mark.parametrize("name", ["development", "held_out"])
def test_no_query_that_breaks_off_breaks_the_reader(name: str) -> None:
    """Whatever is left open at the end: a loop that waits for its close would never come back."""
    for case in cases(name)[::4]:
        words = case["cypher"].split(" ")
        for length in range(len(words)):
            adapted = adapt(" ".join(words[:length]), PROPERTIES)
            assert adapted.text or adapted.refusal


@pytest.mark.parametrize(
    "text",
    ["MATCH (n) USING INDEX n:Room(name", "RETURN $", "MATCH (n:$", "RETURN n IS TYPED LIST<"],
)
def test_what_is_never_closed_is_refused(text: str) -> None:
    assert (adapt(text, PROPERTIES).refusal or "").startswith(
        "Neo.ClientError.Statement.SyntaxError: Invalid input ''"
    )


def test_cases_as_subjects_of_cases_are_read_once() -> None:
    subject = "n.class"
    for _ in range(60):
        subject = f"CASE {subject} WHEN < 'b', > 'c' THEN 1 ELSE 2 END"
    query = f"MATCH (n) RETURN {subject} AS x"
    assert preflight(query) is None
    assert adapt(query, PROPERTIES).text == query


@pytest.mark.parametrize("name", ["development", "held_out"])
def test_what_is_sent_passes_the_preflight_as_what_was_written(name: str) -> None:
    passing = [case["cypher"] for case in cases(name) if preflight(case["cypher"]) is None]
    sent = [adapted.text for query in passing if not (adapted := adapt(query, PROPERTIES)).refusal]
    assert len(sent) > 150
    assert [text for text in sent if preflight(text)] == []


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        (
            r"MATCH (n:\u0052oom) RETURN n.`\uu0063lass` AS c",
            "MATCH (n:Room) RETURN n.`class` AS c",
        ),
        (r"RETURN '\ud83d\ude00 \\u0041' AS s", r"RETURN '😀 \\u0041' AS s"),
        (r"RETURN '\ud83d' AS s", r"RETURN '\ud83d' AS s"),
    ],
)
def test_characters_by_their_number_are_sent_as_neo4j_reads_them(written: str, sent: str) -> None:
    assert (adapt(written, PROPERTIES).refusal, adapt(written, PROPERTIES).text) == (None, sent)
