"""Which words of a Cypher text begin clauses, and which are names with the same spelling.

``create`` may be a property, a label, a map's key, an alias or a variable; Cypher reserves no word.
Words are told apart by their neighbours, without a parser: a clause never stands where an operand
is expected, and no operand is followed by what must follow a clause. Doubtful cases count as
clauses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_llmeval.domains.heracles.tokens import Token


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WRITING: Final = _words(
    "CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH DROP INSERT TRUNCATE UPSERT LOAD"
)
_ADMINISTERING: Final = _words(
    """
    ALTER BEGIN COMMIT DEALLOCATE DENY DRYRUN ENABLE GRANT REALLOCATE RENAME REVOKE ROLLBACK SESSION
    SHOW START STOP TERMINATE USE
    """
)

# After these an operand is expected. Not among them: `*` and `+`, which also end a RETURN or a
# quantified path, and `%`, which also stands for any label.
_BEFORE_OPERAND: Final = (
    ".",
    "..",
    ":",
    "$",
    "(",
    "[",
    ",",
    "=",
    "<",
    ">",
    "-",
    "/",
    "^",
    "&",
    "|",
    "!",
)
# These follow an operand and no clause's first word.
_AFTER_OPERAND: Final = (
    ":",
    ")",
    "]",
    "}",
    ",",
    ".",
    "=",
    "<",
    ">",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "|",
)
_WORDS_BEFORE_OPERAND: Final = _words(
    """
    AND AS BY CASE CONTAINS DISTINCT ELSE IN LIMIT NOT OR RETURN SKIP THEN UNWIND WHEN WHERE WITH
    XOR YIELD
    """
)
_WORDS_AFTER_OPERAND: Final = _words(
    """
    AND AS ASC ASCENDING CALL CONTAINS DESC DESCENDING ELSE END ENDS IN IS LIMIT MATCH OFFSET
    OPTIONAL OR ORDER RETURN SKIP STARTS THEN UNION UNWIND USING WHEN WHERE WITH XOR
    """
)
KEYWORDS: Final = _WORDS_BEFORE_OPERAND | _WORDS_AFTER_OPERAND
"""The words that structure a query."""

_DECLARED_BEFORE: Final = (")", "]", ":", "{", "=", "*", ",")


def forbidden_clause(tokens: Sequence[Token]) -> str | None:
    """Return why the first clause that writes, administers or reaches outside is refused.

    None when there is no such clause.
    """
    for index, token in enumerate(tokens):
        if token.word in _WRITING and is_clause(tokens, index):
            return f"{token.word} must not be used: the graph can only be read"
        if token.word in _ADMINISTERING and is_clause(tokens, index):
            return f"{token.word} must not be used: only queries of the graph are run"
        if token.word == "TRANSACTIONS" and _is_batching(tokens, index):
            return "CALL { } IN TRANSACTIONS must not be used"
    return None


def is_clause(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word at `index` begins a clause; True when in doubt."""
    if index == 0:
        return True
    before, after = tokens[index - 1], tokens[index + 1] if index + 1 < len(tokens) else None
    if before.is_sign(*_BEFORE_OPERAND) or after is None or after.is_sign(*_AFTER_OPERAND):
        return False
    between_words = before.word in _WORDS_BEFORE_OPERAND and after.word in _WORDS_AFTER_OPERAND
    return not between_words or _names_a_keyword(tokens, besides=tokens[index].word)


def _names_a_keyword(tokens: Sequence[Token], *, besides: str) -> bool:
    """Return whether a variable is named like a keyword, which misleads `is_clause`.

    `besides` is a keyword that does not count.
    """
    keywords = KEYWORDS - {besides}
    for before, token, after in zip(
        tokens, tokens[1:], [*tokens[2:], Token("sign", ";")], strict=False
    ):
        if token.word not in keywords or before.is_sign(".", ":", "$"):
            continue
        opened = before.is_sign("(", "[", ",") or before.word == "YIELD"
        if before.word == "AS" or after.is_sign("="):
            return True
        if opened and (after.is_sign(*_DECLARED_BEFORE) or after.word in {"IN", "WHERE", "AS"}):
            return True
    return False


def _is_batching(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word TRANSACTIONS at `index` ends ``} IN [n CONCURRENT] TRANSACTIONS``."""
    before = tokens[index - 1].word if index else ""
    return before == "CONCURRENT" or (
        before == "IN" and index > 1 and tokens[index - 2].is_sign("}")
    )
