from __future__ import annotations

import json
from pathlib import Path

import pytest
from domains.heracles.corpus import statements

from pytest_llmeval.domains.heracles.nesting import MAX_DEPTH
from pytest_llmeval.domains.heracles.query import MAX_BYTES, MAX_TOKENS, preflight

FOREIGN = Path(__file__).with_name("data") / "foreign_queries.jsonl"
"""250 queries with a verdict, `allow` or `refuse`, by a reader who had not seen the guard."""


@pytest.mark.parametrize("cypher", statements("harmless.txt"))
def test_a_query_that_only_reads_passes_whatever_words_it_holds(cypher: str) -> None:
    assert preflight(cypher) is None


@pytest.mark.parametrize("cypher", [*statements("writing.txt"), *statements("forbidden.txt")])
def test_a_statement_that_does_more_than_read_is_refused(cypher: str) -> None:
    assert preflight(cypher) is not None


def test_queries_by_a_reader_who_had_not_seen_the_guard_are_told_apart() -> None:
    wrong = [
        case["query"]
        for case in map(json.loads, FOREIGN.read_text("utf-8").splitlines())
        if ("allow" if preflight(case["query"]) is None else "refuse") != case["verdict"]
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("cypher", "reason"),
    [
        ("MATCH (n) SET n.x = 1", "SET must not be used: the graph can only be read"),
        ("SHOW USERS", "SHOW must not be used: only queries of the graph are run"),
        ("CALL dbms.listConfig()", "the procedure dbms.listConfig must not be called"),
        ("RETURN apoc.text.join([], '')", "the function apoc.text.join() must not be called"),
        ("RETURN distance(a, b)", "distance() does not exist; use point.distance()"),
        ("RETURN 1; RETURN 2", "only one statement is run at a time"),
        ("RETURN 'x", "a string is never closed"),
        ("RETURN `x", "a name in backquotes is never closed"),
        ("RETURN 1 /* x", "a comment is never closed"),
        (
            "MATCH (n) CALL { RETURN 1 AS x } IN TRANSACTIONS RETURN x",
            "CALL { } IN TRANSACTIONS must not be used",
        ),
        ("  ", "the query is empty"),
        ("RETURN '\ud800'", "the query holds half a character (a lone surrogate)"),
        (
            "RETURN 1 //\u2028CREATE (:Evil)",
            "a comment holds a character that may end the line or not",
        ),
    ],
)
def test_a_refusal_says_what_must_not_be(cypher: str, reason: str) -> None:
    assert preflight(cypher) == reason


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("(", ")"),
        ("[", "]"),
        ("{a: ", "}"),
        ("NOT ", ""),
        ("- ", ""),
        ("CASE WHEN true THEN ", " END"),
    ],
)
def test_nesting_is_run_up_to_the_limit_and_refused_beyond(opening: str, closing: str) -> None:
    assert preflight(f"RETURN {opening * MAX_DEPTH}1{closing * MAX_DEPTH} AS x") is None
    refusal = preflight(f"RETURN {opening * (MAX_DEPTH + 1)}1{closing * (MAX_DEPTH + 1)} AS x")
    assert refusal is not None
    assert refusal.endswith(f"more than {MAX_DEPTH} levels deep")


@pytest.mark.parametrize("link", ["+ 1", "- 1", "* 1", "/ 1", "^ 1", "% 1", ".a", "+ or", "+ 'a'"])
def test_a_chain_of_operators_nests_as_brackets_do(link: str) -> None:
    assert preflight(f"WITH 1 AS or RETURN or {link * (MAX_DEPTH - 1)} AS x") is None
    refusal = preflight(f"WITH 1 AS or RETURN or {link * (MAX_DEPTH + 1)} AS x")
    assert refusal == f"the query chains operators more than {MAX_DEPTH} levels deep"


def test_a_path_of_very_many_hops_is_refused() -> None:
    assert preflight("MATCH (a)" + "--(b)" * 20 + " RETURN a") is None
    assert preflight("MATCH (a)" + "--(b)" * 60 + " RETURN a") is not None


def test_many_short_expressions_are_no_chain() -> None:
    assert (
        preflight("RETURN " + ", ".join(f"n.a.b + n.c AS x{number}" for number in range(100)))
        is None
    )
    assert (
        preflight(
            "MATCH (n) WHERE "
            + " OR ".join(f"n.x + {number} = n.y" for number in range(100))
            + " RETURN n"
        )
        is None
    )


def test_a_variable_called_end_hides_no_nesting() -> None:
    assert preflight("MATCH (end) RETURN " + "(end.x + " * 100 + "1" + ")" * 100) is not None


def test_brackets_in_strings_and_comments_are_no_nesting() -> None:
    assert preflight(f"RETURN '{'(' * 200}' AS s /* {'[' * 200} */") is None


def test_a_long_query_is_refused_before_it_is_read() -> None:
    assert preflight(f"RETURN '{'x' * (MAX_BYTES - 9)}'") is None
    assert (
        preflight(f"RETURN '{'x' * (MAX_BYTES - 8)}'")
        == f"the query is {MAX_BYTES + 1} bytes long; at most {MAX_BYTES} are run"
    )


def test_a_query_of_very_many_words_is_refused() -> None:
    assert (
        preflight("MATCH (n) WHERE n.nodeSymbol IN [" + "'O1', " * 400 + "'O2'] RETURN n") is None
    )
    refusal = preflight("RETURN [" + "1, " * MAX_TOKENS + "1] AS l")
    assert refusal is not None
    assert refusal.endswith(f"at most {MAX_TOKENS} are run")
