from __future__ import annotations

import pytest

from pytest_llmeval.domains.heracles.query import extract_query

QUERY = "MATCH (n) RETURN n"


@pytest.mark.parametrize(
    "reply",
    [
        f"<answer>{QUERY}</answer>",
        f"Because.\n\n<answer>\n{QUERY}\n</answer>\nDone.",
        f"<answer>```cypher\n{QUERY}\n```</answer>",
        f"<answer>\n```\n{QUERY}\n```\n</answer>",
        f"<answer>```Cypher\n{QUERY}```</answer>",
        f"<answer>`{QUERY}`</answer>",
        f"First <answer>RETURN 1</answer>, better: <answer>{QUERY}</answer>",
        f"<ANSWER>{QUERY}</ANSWER>",
    ],
)
def test_the_query_in_the_last_answer_is_found_bare(reply: str) -> None:
    assert extract_query(reply) == QUERY


@pytest.mark.parametrize(
    "reply",
    [
        "",
        QUERY,
        f"```cypher\n{QUERY}\n```",
        f"<answer>{QUERY}",
        f"{QUERY}</answer>",
        "<answer> </answer>",
    ],
)
def test_a_reply_without_a_query_in_tags_holds_none(reply: str) -> None:
    assert extract_query(reply) is None


def test_backquoted_names_are_not_a_wrapping() -> None:
    assert extract_query("<answer>`a`, `b`</answer>") == "`a`, `b`"


def test_a_fence_may_stand_around_several_lines() -> None:
    assert (
        extract_query("<answer>```cypher\nMATCH (n)\nRETURN n\n```</answer>")
        == "MATCH (n)\nRETURN n"
    )
