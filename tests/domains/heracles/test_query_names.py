"""Keywords as names: no harmless query is refused, and no clause that changes something passes."""

from __future__ import annotations

import pytest
from domains.heracles.query_texts import (
    ADMINISTERING,
    BEFORE,
    READING,
    STRUCTURING,
    WRITING,
    Text,
    changing,
    reading,
)
from hypothesis import given, settings

from pytest_llmeval.domains.heracles.clauses import ADMINISTERING as ADMINISTERING_WORDS
from pytest_llmeval.domains.heracles.clauses import WRITING as WRITING_WORDS
from pytest_llmeval.domains.heracles.query import preflight


def filled(template: str, slot: str, name: str) -> str:
    """Give each slot a name of its own, and one of them `name`."""
    return template.format(**{each: f"{each}1" for each in "vwapqlt"} | {slot: name})


def test_the_words_that_are_tried_are_those_that_are_refused() -> None:
    assert {word.lower() for word in WRITING_WORDS | ADMINISTERING_WORDS} <= {
        *WRITING,
        *ADMINISTERING,
    }


@pytest.mark.parametrize("template", READING)
def test_every_forbidden_word_may_name_anything_in_a_query_that_reads(template: str) -> None:
    queries = [
        filled(template, slot, word)
        for slot in "vwapqlt"
        if f"{{{slot}}}" in template
        for word in [*WRITING, *ADMINISTERING]
    ]
    assert {query: why for query in queries if (why := preflight(query))} == {}


@pytest.mark.parametrize("before", BEFORE)
def test_no_clause_hides_behind_a_variable_that_is_named_like_a_keyword(before: str) -> None:
    passed = [
        query
        for slot in "va"
        for word in [*ADMINISTERING, *STRUCTURING]
        for clause in ("SET {v}.{q} = 1", "DELETE {v}", "CREATE evil = (:Evil)")
        if preflight(query := filled(f"{before} {clause}", slot, word)) is None
    ]
    assert passed == []


@given(reading())
@settings(max_examples=200)
def test_a_query_that_reads_passes_however_it_is_written(query: Text) -> None:
    assert preflight(query.sent) is None


@given(changing())
@settings(max_examples=400)
def test_a_clause_that_changes_something_is_refused_however_it_is_written(query: Text) -> None:
    assert preflight(query.sent) is not None
