"""Hostile and costly statements on each engine: the graph stays, and the next query works."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from domains.heracles.corpus import statements
from domains.heracles.query_texts import BEFORE, CHANGING, READING

from pytest_llmeval.domains.heracles.bolt import TimeLimits
from pytest_llmeval.domains.heracles.rows import MAX_CHARACTERS, MAX_ROWS

if TYPE_CHECKING:
    from live.live_graph import LiveGraph

    from pytest_llmeval.domains.heracles.scene_graph import SceneGraph

RESTART_SECONDS = 60


@pytest.fixture(scope="module")
def limits() -> TimeLimits:
    return TimeLimits(server=1, deadline=2)


def test_harmless_queries_run_and_the_preflight_lets_them(live: LiveGraph) -> None:
    failed = {}
    for cypher in statements("harmless.txt"):
        error = live.query(cypher).error
        if error is not None and not error.startswith("Neo.ClientError.Statement."):
            failed[cypher] = error
    assert failed == {}


@pytest.mark.parametrize("corpus", ["writing.txt", "forbidden.txt"])
def test_hostile_statements_are_answered_with_a_reason_and_the_graph_stays(
    live: LiveGraph, scene: SceneGraph, corpus: str
) -> None:
    results = [live.query(cypher) for cypher in statements(corpus)]
    assert [result.input for result in results if result.error is None] == []
    assert live.holds(scene)


def test_what_writes_is_stopped_by_the_database_too(live: LiveGraph, scene: SceneGraph) -> None:
    for cypher in statements("writing.txt"):
        live.ask(cypher)
    assert live.holds(scene)


@pytest.mark.parametrize("cypher", statements("costly.txt"))
def test_a_costly_query_ends_in_time_and_the_next_one_works(
    live: LiveGraph, limits: TimeLimits, cypher: str
) -> None:
    result = live.query(cypher)
    # Alone on a fresh server a second time, at worst, and a restart after each.
    assert result.seconds < 2 * (limits.deadline + RESTART_SECONDS)
    assert result.count <= MAX_ROWS
    assert len(result.output) <= MAX_CHARACTERS + 1_000
    assert live.query("MATCH (r:Room) RETURN count(r) AS n").output == "n\n9\n(1 row)"


def test_what_the_tests_of_the_guard_call_reading_and_changing_is_so_for_neo4j(
    live: LiveGraph,
) -> None:
    """The database's own opinion: the type of a query that EXPLAIN tells without running it."""
    if not live.is_neo4j:
        pytest.skip("ArcadeDB tells no type of a query")
    names = ("grant", "show", "alias", "start", "stop", "Label", "TYPE")
    slots = dict(zip("vwapqlt", names, strict=True))
    reads = [template.format(**slots) for template in READING]
    assert {query: kind for query in reads if (kind := live.kind(query)) != "r"} == {}
    changes = [
        f"{before} {clause}".format(**slots) for before in BEFORE for clause in CHANGING[:15:4]
    ]
    kinds = Counter(map(live.kind, changes))
    assert kinds["w"] > 0.9 * len(changes), kinds
    assert kinds["r"] == 0


def test_nothing_of_all_that_changed_the_graph(live: LiveGraph, scene: SceneGraph) -> None:
    assert live.holds(scene)
