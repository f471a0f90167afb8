"""Patterns of Cypher 5: nodes, relationships, paths, and what may stand before and behind them."""

from __future__ import annotations

from typing import Literal

from pytest_llmeval.domains.heracles.dialect import expressions
from pytest_llmeval.domains.heracles.dialect.reader import Reader
from pytest_llmeval.domains.heracles.dialect.syntax import (
    Expression,
    Group,
    NodePattern,
    Path,
    RelationshipPattern,
    Variable,
)

_FUNCTIONS = {"SHORTESTPATH": "shortestPath", "ALLSHORTESTPATHS": "allShortestPaths"}


def begins_path(reader: Reader, *, ahead: int = 0) -> bool:
    """Whether a node pattern with a relationship behind it comes `ahead` tokens further on, not a bracketed value."""
    closing, inside = reader.partner(ahead), ahead + 1
    if reader.peek(inside).is_name:
        inside += 1
    following, behind = reader.peek(inside), reader.peek(closing + 1)
    is_node = (
        reader.peek(ahead).is_sign("(")
        and closing > ahead
        and (closing == inside or following.is_sign(":", "{") or following.word in {"WHERE", "IS"})
    )
    if behind.is_sign("<"):
        closing, behind = closing + 1, reader.peek(closing + 2)
    return is_node and behind.is_sign("-") and reader.peek(closing + 2).is_sign("-", "[")


def path(reader: Reader) -> Path:
    """Read a path, with its variable, selector or shortest-path function if it has them."""
    start = reader.start
    variable = None
    if reader.peek().is_name and reader.peek(1).is_sign("="):
        variable = reader.need_variable()
        reader.next()
    selector = _selector(reader)
    function = _FUNCTIONS.get(reader.peek().word, "") if reader.peek(1).is_sign("(") else ""
    if function:
        reader.next()
        reader.need_sign("(")
    body = reader.start
    elements = _elements(reader)
    if function:
        reader.need_sign(")")
    return Path(
        start=start,
        end=reader.end,
        variable=variable,
        selector=selector,
        function=function,
        elements=elements,
        body=body,
    )


def _selector(reader: Reader) -> str:
    """Read ``SHORTEST 2``, ``ALL SHORTEST``, ``ANY 3 PATHS`` or the like, and return its words in capitals."""
    words: list[str] = []
    if reader.peek().word in {"SHORTEST", "ANY", "ALL"} and not reader.peek(1).is_sign("="):
        while reader.peek().kind in {"word", "number"}:
            words.append(reader.next().text.upper())
    return " ".join(words)


def _elements(reader: Reader) -> tuple[NodePattern | RelationshipPattern | Group, ...]:
    found: list[NodePattern | RelationshipPattern | Group] = [_node_or_group(reader)]
    while True:
        if reader.at_sign("-", "<"):
            found.append(_relationship(reader))
            found.append(_node_or_group(reader))
        elif reader.at_sign("("):
            found.append(_node_or_group(reader))
        else:
            return tuple(found)


def _node_or_group(reader: Reader) -> NodePattern | Group:
    if not reader.at_sign("("):
        raise reader.unexpected("'('")
    named = reader.peek(1).is_name and reader.peek(2).is_sign("=")
    return _group(reader) if reader.peek(1).is_sign("(") or named else _node(reader)


def _group(reader: Reader) -> Group:
    start = reader.start
    reader.need_sign("(")
    inner = path(reader)
    where = _where(reader)
    reader.need_sign(")")
    quantifier = _quantifier(reader)
    return Group(start=start, end=reader.end, path=inner, where=where, quantifier=quantifier)


def _node(reader: Reader) -> NodePattern:
    start = reader.start
    reader.need_sign("(")
    variable = _variable(reader)
    begin = reader.start
    dynamic = labels(reader) if reader.at_sign(":") or reader.at_word("IS") else False
    label_text = reader.text[begin : reader.end] if reader.end > begin else ""
    properties = _properties(reader)
    where = _where(reader)
    reader.need_sign(")")
    return NodePattern(
        start=start,
        end=reader.end,
        variable=variable,
        labels=label_text,
        properties=properties,
        where=where,
        dynamic=dynamic,
    )


def _relationship(reader: Reader) -> RelationshipPattern:
    start = reader.start
    leftward = reader.take_sign("<")
    reader.need_sign("-")
    variable, types, length, colon, dynamic = None, "", None, None, False
    types_start = reader.start
    properties: Expression | None = None
    where: Expression | None = None
    if reader.take_sign("["):
        variable = _variable(reader)
        types_start = reader.start
        if reader.at_sign(":") or reader.at_word("IS"):
            colon = _legacy_colon(reader)
            dynamic = labels(reader)
            types = reader.text[types_start : reader.end]
        length = _length(reader)
        properties = _properties(reader)
        where = _where(reader)
        reader.need_sign("]")
    reader.need_sign("-")
    rightward = reader.take_sign(">")
    arrows: Literal["->", "<-", "-"] = "-" if leftward == rightward else "->" if rightward else "<-"
    quantifier = _quantifier(reader)
    return RelationshipPattern(
        start=start,
        end=reader.end,
        variable=variable,
        types=types,
        types_start=types_start,
        length=length,
        properties=properties,
        where=where,
        arrows=arrows,
        quantifier=quantifier,
        colon=colon,
        dynamic=dynamic,
    )


def labels(reader: Reader) -> bool:
    """Read a label or type expression from its colon or IS on, and return whether any name in it is computed."""
    if not (reader.take_sign(":") or reader.take_word("IS")):
        reader.need_sign(":")
    return label_names(reader)


def label_names(reader: Reader) -> bool:
    """Read a label or type expression behind its colon or IS, and return whether any name in it is computed."""
    dynamic = False
    while True:
        while reader.take_sign("!"):
            pass
        if reader.at_sign("("):
            dynamic |= _label_group(reader)
        elif reader.take_sign("$"):
            _computed_name(reader)
            dynamic = True
        elif not reader.take_sign("%"):
            reader.need_name()
        if reader.at_sign("|") and not _joins_label(reader):
            return dynamic
        if not (reader.take_sign("|") or reader.take_sign("&") or reader.at_sign(":")):
            return dynamic
        reader.take_sign(":")


def _joins_label(reader: Reader) -> bool:
    """Whether the ``|`` that comes next joins labels, and does not end the filter of a comprehension."""
    following, behind = reader.peek(1), reader.peek(2)
    if following.is_sign("!", "%", "$", ":", "("):
        return True
    return (following.is_name and not behind.is_sign(".", "[", "(", "+", "-", "]", "{")) or (
        following.is_name and behind.is_sign("]", "{") and reader.peek(3).is_sign("-", "<")
    )


def _label_group(reader: Reader) -> bool:
    reader.need_sign("(")
    dynamic = False
    depth = 1
    while depth:
        token = reader.next()
        depth += token.is_sign("(") - token.is_sign(")")
        dynamic |= token.is_sign("$")
        if not token.text:
            raise reader.unexpected("')'")
    return dynamic


def _computed_name(reader: Reader) -> None:
    """Read what follows the ``$`` of a computed label."""
    if reader.peek().word in {"ANY", "ALL"}:
        reader.next()
    reader.need_sign("(")
    expressions.expression(reader)
    reader.need_sign(")")


def _legacy_colon(reader: Reader) -> int | None:
    """Return where a colon follows ``|`` in the types that come next."""
    ahead = 0
    while not reader.peek(ahead).is_sign("]", "{", "*", ""):
        if reader.peek(ahead).is_sign("|") and reader.peek(ahead + 1).is_sign(":"):
            return reader.peek(ahead).start
        ahead += 1
    return None


def _length(reader: Reader) -> str | None:
    start = reader.start
    if not reader.take_sign("*"):
        return None
    while reader.peek().kind == "number" or reader.at_sign(".."):
        reader.next()
    return reader.text[start : reader.end]


def _quantifier(reader: Reader) -> str | None:
    start = reader.start
    if reader.take_sign("+") or reader.take_sign("*"):
        return reader.text[start : reader.end]
    if not reader.at_sign("{"):
        return None
    while not reader.take_sign("}"):
        if not (reader.peek().kind == "number" or reader.at_sign("{", ",", "$")):
            raise reader.unexpected("an integer value, ',' or '}'")
        reader.next()
    return reader.text[start : reader.end]


def _variable(reader: Reader) -> Variable | None:
    token, following = reader.peek(), reader.peek(1)
    if (
        not token.is_name
        or (token.word == "WHERE" and following.is_name)
        or (token.word == "IS" and following.is_name)
    ):
        return None
    return reader.need_variable()


def _properties(reader: Reader) -> Expression | None:
    if reader.at_sign("{"):
        return expressions.map_of(reader)
    return expressions.expression(reader) if reader.at_sign("$") else None


def _where(reader: Reader) -> Expression | None:
    return expressions.expression(reader) if reader.take_word("WHERE") else None
