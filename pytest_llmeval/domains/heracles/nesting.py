"""How deep a Cypher text nests: brackets, CASE, unary operators, and chains of operators.

Beyond some hundred levels Neo4j's parser overflows its stack, and the connection hangs for good: no
error, no time limit (measured on 5.26: 400 brackets, 300 properties of properties, 300 strings
added up, a path of 60 hops). Chains nest in a parser's tree as brackets do; those of AND and OR do
not hang it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_llmeval.domains.heracles.positions import KEYWORDS
from pytest_llmeval.domains.heracles.tokens import Token

MAX_DEPTH: Final = 64
"""Most levels of each kind."""

_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")
_CHAINING = (".", "+", "-", "*", "/", "%", "^")


def too_deep(tokens: Sequence[Token]) -> str | None:
    """Return why a text that nests beyond the limit is refused, None for others.

    Every CASE counts, ended or not: ``end`` is also a common variable, so ENDs cannot be set off
    against them.
    """
    if (
        sum(token.word == "CASE" for token in tokens) > MAX_DEPTH
        or _longest_run_of_not(tokens) > MAX_DEPTH
    ):
        return _refusal("nests")
    chains = [0]  # operators so far, at each open bracket
    operator_before = False
    for token in tokens:
        if token.is_sign(*_OPENING):
            chains.append(0)
        elif token.is_sign(*_CLOSING):
            chains = chains[:-1] or [0]
        elif token.is_sign(",") or (token.word in KEYWORDS and not operator_before):
            chains[-1] = 0
        elif token.is_sign(*_CHAINING):
            chains[-1] += 1
        operator_before = token.is_sign(*_CHAINING)
        if len(chains) - 1 > MAX_DEPTH:
            return _refusal("nests")
        if chains[-1] > MAX_DEPTH:
            return _refusal("chains operators")
    return None


def _longest_run_of_not(tokens: Sequence[Token]) -> int:
    longest = run = 0
    for token in tokens:
        run = run + 1 if token.word == "NOT" else 0
        longest = max(longest, run)
    return longest


def _refusal(what: str) -> str:
    return f"the query {what} more than {MAX_DEPTH} levels deep"
