"""The clauses of a Cypher text that write, administer or reach outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_llmeval.domains.heracles.positions import (
    KEYWORDS,
    Next,
    expected,
    names_of_variables,
    words,
)
from pytest_llmeval.domains.heracles.tokens import END, Token

WRITING: Final = words(
    "CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH DROP INSERT TRUNCATE UPSERT LOAD"
)
ADMINISTERING: Final = words(
    """
    ALTER BEGIN COMMIT DEALLOCATE DENY DRYRUN ENABLE GRANT REALLOCATE RENAME REVOKE ROLLBACK SESSION
    SHOW START STOP TERMINATE USE
    """
)
_OTHERS: Final = words("CALL WHEN")

# These follow a name, and no clause's first word.
_AFTER_NAME: Final = (
    *(":", ")", "]", "}", ",", ".", "=", "<", ">", "+", "-", "*", "/", "%", "^", "|", "&"),
)
_WORDS_AFTER_NAME: Final = KEYWORDS - words("BY CASE DISTINCT NOT ON")


def clause_words(tokens: Sequence[Token]) -> frozenset[int]:
    """Return the places of the words that may begin a clause; those in doubt are among them.

    Only words of `WRITING` and `ADMINISTERING`, CALL and WHEN are looked for.
    """
    looked_for = WRITING | ADMINISTERING | _OTHERS
    if not any(token.word in looked_for for token in tokens):
        return frozenset()
    bound = names_of_variables(tokens)
    return frozenset(
        index
        for index, coming in enumerate(expected(tokens, bound))
        if tokens[index].word in looked_for and not _is_name(tokens, index, coming, bound)
    )


def forbidden_clause(tokens: Sequence[Token], clauses: frozenset[int]) -> str | None:
    """Return why the first clause that writes, administers or reaches outside is refused.

    None when there is no such clause. `clauses` are the places of `clause_words`.
    """
    for index, token in enumerate(tokens):
        if token.word in WRITING and index in clauses:
            return f"{token.word} must not be used: the graph can only be read"
        if token.word in ADMINISTERING and index in clauses:
            return f"{token.word} must not be used: only queries of the graph are run"
        if token.word == "WHEN" and index in clauses and _begins_a_query(tokens, index):
            return "WHEN must not begin a query"
        if token.word == "TRANSACTIONS" and _is_batching(tokens, index):
            return "CALL { } IN TRANSACTIONS must not be used"
    return None


def _is_name(tokens: Sequence[Token], index: int, coming: Next, bound: frozenset[str]) -> bool:
    """Return whether the word at `index` is surely a name, and begins no clause."""
    if Next.CLAUSE not in coming:
        return True
    if index == 0:
        return False
    after, beyond = (*tokens[index + 1 : index + 3], END, END)[:2]
    if after.is_sign(*_AFTER_NAME):
        return True
    if Next.OPERAND not in coming:
        return False
    if after is END:
        return True
    # Not CREATE OR REPLACE, and not CALL with a procedure whose namespace is a keyword.
    begins = (tokens[index].word, after.word) == ("CREATE", "OR") or beyond.is_sign(".")
    return after.word in _WORDS_AFTER_NAME - bound and not begins


def _begins_a_query(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word at `index` is the first of a query or subquery.

    WHEN begins one of Cypher 25, whose THEN is followed by clauses; in CASE it never does.
    """
    before = tokens[index - 1] if index else None
    return before is None or before.is_sign("{") or before.word in words("ALL DISTINCT NEXT UNION")


def _is_batching(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word TRANSACTIONS at `index` ends ``} IN [n CONCURRENT] TRANSACTIONS``."""
    before = tokens[index - 1].word if index else ""
    return before == "CONCURRENT" or (
        before == "IN" and index > 1 and tokens[index - 2].is_sign("}")
    )
