"""The embedded engine compared with Neo4j, over queries that the rules were not made from."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from live.engine_answers import Answer, kind_of

from pytest_llmeval.domains.heracles.dialect import adapt, property_types

if TYPE_CHECKING:
    from live.live_graph import LiveGraph

    from pytest_llmeval.domains.heracles.scene_graph import SceneGraph

DATA = Path(__file__).parents[1] / "domains" / "heracles" / "data" / "engines"

embedded = pytest.mark.parametrize("live", ["arcadedb"], indirect=True)
real = pytest.mark.parametrize("live", ["neo4j"], indirect=True)


def recorded(name: str) -> dict[str, Answer]:
    cases = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return {case.pop("cypher"): Answer(**case) for case in cases}


HELD_OUT = recorded("held_out")


@embedded
def test_held_out_queries_end_as_on_neo4j_or_are_flagged(live: LiveGraph) -> None:
    ends = Counter(
        (kind_of(truth, live.answer(cypher)), end(live, cypher, truth))
        for cypher, truth in HELD_OUT.items()
    )
    kinds = {
        kind: sum(ends[found, way] for found, way in ends if found == kind) for kind, _ in ends
    }
    # Or the rates below would tell nothing.
    assert kinds["good"] > 120, kinds
    assert kinds["wrong rows"] > 25, kinds
    assert kinds["wrongly accepted"] > 50, kinds

    wrong = (
        ends["wrong rows", "as Neo4j"]
        + ends["wrong rows", "flagged"]
        + ends["wrong rows", "refused"]
    )
    assert wrong >= 0.9 * kinds["wrong rows"], ends
    assert ends["wrongly accepted", "refused"] >= 0.85 * kinds["wrongly accepted"], ends
    assert ends["good", "flagged"] <= 0.03 * kinds["good"], ends
    assert ends["good", "refused"] == ends["good", "other rows"] == 0, ends


def end(live: LiveGraph, cypher: str, truth: Answer) -> str:
    """Return what becomes of a model's query."""
    found = live.query(cypher)
    if found.error is not None and found.executed == cypher and found.uncertain is None:
        return "refused"
    if found.uncertain is not None:
        return "flagged"
    return "as Neo4j" if live.answer(found.executed).agrees(truth) else "other rows"


@real
def test_what_is_rewritten_keeps_the_rows_that_neo4j_gives(
    live: LiveGraph, scene: SceneGraph
) -> None:
    properties = property_types(scene)
    changed = {
        cypher: adapted.text
        for cypher in HELD_OUT
        if (adapted := adapt(cypher, properties)).text != cypher and adapted.refusal is None
    }
    assert len(changed) > 30
    assert [
        cypher for cypher, sent in changed.items() if not live.answer(sent).agrees(HELD_OUT[cypher])
    ] == []


@real
def test_the_recorded_answers_are_those_of_neo4j(live: LiveGraph) -> None:
    asked = dict(list(HELD_OUT.items())[::6])
    assert [
        cypher for cypher, truth in asked.items() if not live.answer(cypher).agrees(truth)
    ] == []


def test_a_result_without_rows_tells_its_columns(live: LiveGraph) -> None:
    found = live.query("MATCH (o:Object {class: 'unicorn'}) RETURN o.nodeSymbol, o.class AS kind")
    assert found.output == "o.nodeSymbol | kind\n(no rows)"


def test_a_record_holds_both_texts_and_the_doubt(live: LiveGraph) -> None:
    wanted = (
        "MATCH (r:Room) WITH r ORDER BY r.nodeSymbol LIMIT 3 WHERE r.class = 'office' "
        "RETURN max(r) AS most"
    )
    found = live.query(wanted)
    assert found.input == wanted
    assert ("LIMIT 3 WITH * WHERE" in found.executed) is live.is_embedded
    assert found.uncertain == (
        "it takes the maximum of nodes or points" if live.is_embedded else None
    )


def test_an_error_that_only_rows_would_meet_needs_rows(live: LiveGraph) -> None:
    assert live.query("MATCH (r:Unicorn) RETURN r.center.lat AS lat").output == "lat\n(no rows)"
    error = live.query("MATCH (r:Room) RETURN r.center.lat AS lat").error
    assert error == "Neo.ClientError.Statement.ArgumentError: No such field: lat"


def test_a_refusal_of_the_embedded_engine_is_in_the_words_of_neo4j(live: LiveGraph) -> None:
    error = live.query("MATCH (r:Room) WITH r.class AS c RETURN c, r.nodeSymbol").error
    assert error is not None
    assert error.startswith(
        "Neo.ClientError.Statement.SyntaxError: Variable `r` not defined (line 1, column 44 "
        "(offset: 43))"
    )
