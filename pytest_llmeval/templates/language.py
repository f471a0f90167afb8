"""Sandboxed jinja2: templates of prompts and questions, and expressions that select rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, nodes
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

IMAGE_TAG: Final = "<image>"
"""The tag that stands for a picture, in templates and in inputs."""

PICTURE: Final = "llmeval_picture"
"""The variable that replaces an image tag in a template."""

LISTS: Final = ("examples", "choices")
"""Variables that are lists, and texts where they stand alone: ``{{ examples }}``."""

AS_TEXT: Final = "_text"
"""The end of the name of the variable that holds such a list as text."""

METADATA: Final = "metadata"
"""The variable with a sample's metadata."""

_PLAIN_FILTERS: Final = frozenset({"capitalize", "lower", "string", "title", "trim", "upper"})
"""Filters that take time linear in the text, and hardly lengthen it."""

_COUNTS: Final = frozenset({"count", "float", "int", "length"})
"""Filters to numbers."""

_PLAIN_TESTS: Final = frozenset({"boolean", "defined", "none", "number", "string", "undefined"})
"""Tests of a value's kind."""

_PLAIN_NODES: Final = (
    nodes.And,
    nodes.Compare,
    nodes.Const,
    nodes.List,
    nodes.Name,
    nodes.Neg,
    nodes.Not,
    nodes.Operand,
    nodes.Or,
    nodes.Sub,
    nodes.Tuple,
)
"""What a plain expression is made of."""


_OF_JINJA: Final = frozenset({"caller", "kwargs", "loop", "self", "super", "varargs"})
"""Variables that jinja2 sets inside its own constructs."""


class _ImageTags(Extension):
    """Replaces ``<image>`` in a template's text by ``{{ llmeval_picture }}``."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for token in stream:
            if token.type != "data" or IMAGE_TAG not in token.value:
                yield token
                continue
            for index, text in enumerate(token.value.split(IMAGE_TAG)):
                if index:
                    yield Token(token.lineno, "variable_begin", "{{")
                    yield Token(token.lineno, "name", PICTURE)
                    yield Token(token.lineno, "variable_end", "}}")
                if text:
                    yield Token(token.lineno, "data", text)


class _Lists(Extension):
    """Replaces ``{{ examples }}`` by ``{{ examples_text }}``, and so each of `LISTS`."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        tokens = list(stream)
        for number, token in enumerate(tokens):
            is_list = token.type == "name" and token.value in LISTS
            if is_list and (tokens[number - 1].type, tokens[number + 1].type) == _ALONE:
                yield Token(token.lineno, "name", token.value + AS_TEXT)
            else:
                yield token


_ALONE: Final = ("variable_begin", "variable_end")
"""What stands around a variable that is all of an expression."""


_CHOICE: Final = {"letter", "text"}
"""The keys of a choice."""


def choice_lines(choices: Iterable[Mapping[str, Any]]) -> str:
    """Return choices as a prompt shows them: a line ``A. Venus`` for each."""
    return "\n".join(f"{one['letter']}. {one['text']}" for one in choices)


def _put(value: object) -> object:
    """Return what a template puts into its text: of choices, such as an example's, their lines."""
    is_choices = isinstance(value, list) and value and all(map(_is_choice, value))
    return choice_lines(value) if is_choices and isinstance(value, list) else value


def _is_choice(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == _CHOICE


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    # No escaping for HTML: prompts are plain text.
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        extensions=[_ImageTags, _Lists],
        finalize=_put,
    )


@lru_cache(maxsize=1024)
def compile_template(text: str) -> Template:
    """Return the compiled template; jinja2.TemplateSyntaxError when it is invalid."""
    return _environment().from_string(text)


@lru_cache(maxsize=1024)
def plain_names(text: str) -> frozenset[str] | None:
    """Return the names in a plain template: ``input``, ``metadata.hint``; None for another one.

    A plain template has texts, names, values of ``metadata``, and filters of `_PLAIN_FILTERS`. It
    can fail only by a missing name, and its result is not much longer than its parts.

    Raises:
        jinja2.TemplateSyntaxError: the template is invalid.
    """
    names: set[str] = set()
    for node in _parsed(text).body:
        if not isinstance(node, nodes.Output):
            return None
        for part in node.nodes:
            if not isinstance(part, nodes.TemplateData):
                if (name := _plain_name(part)) is None:
                    return None
                names.add(name)
    return frozenset(names)


class Use(NamedTuple):
    """One use of a variable in a template.

    Attributes:
        name: the variable.
        line: line of the template, from 1.
        bare: whether it is put into the text as it is, without filter, attribute or operator.
    """

    name: str
    line: int
    bare: bool


def names_used(text: str) -> list[Use]:
    """Return every use of a variable that the template itself does not set, in order.

    Raises:
        jinja2.TemplateSyntaxError: the template is invalid.
    """
    # jinja2's own search compiles the template, which evaluates its constants: without limits.
    tree = _parsed(text)
    set_here = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    set_here |= {node.name for node in tree.find_all(nodes.Macro)}
    others = set_here | _OF_JINJA | _environment().globals.keys()
    bare = {id(part) for output in tree.find_all(nodes.Output) for part in output.nodes}
    return [
        Use(node.name, node.lineno, id(node) in bare)
        for node in tree.find_all(nodes.Name)
        if node.ctx == "load" and node.name not in others
    ]


def _plain_name(node: nodes.Expr) -> str | None:
    if isinstance(node, nodes.Filter) and node.name in _PLAIN_FILTERS and node.node is not None:
        has_arguments = node.args or node.kwargs or node.dyn_args or node.dyn_kwargs
        return None if has_arguments else _plain_name(node.node)
    if isinstance(node, nodes.Name):
        return node.name
    owner = node.node if isinstance(node, nodes.Getattr | nodes.Getitem) else None
    if not (isinstance(owner, nodes.Name) and owner.name == METADATA):
        return None
    if isinstance(node, nodes.Getattr):
        return f"{METADATA}.{node.attr}"
    key = node.arg if isinstance(node, nodes.Getitem) else None
    is_text = isinstance(key, nodes.Const) and isinstance(key.value, str)
    return f"{METADATA}.{key.value}" if is_text and isinstance(key, nodes.Const) else None


def is_plain_expression(text: str) -> bool:
    """Return whether an expression takes time and memory in proportion to its parts only.

    Such are comparisons of columns and constants, joined by ``and``, ``or`` and ``not``.

    Raises:
        jinja2.TemplateSyntaxError: the text is not an expression.
    """
    body = _parsed(f"{{{{ {text} }}}}").body
    if len(body) != 1 or not isinstance(body[0], nodes.Output) or len(body[0].nodes) != 1:
        msg = "expected one expression"
        raise TemplateSyntaxError(msg, 1)
    return all(_is_plain(node) for node in _all_nodes(body[0].nodes[0]))


def _is_plain(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter | nodes.Test):
        known = _PLAIN_FILTERS | _COUNTS if isinstance(node, nodes.Filter) else _PLAIN_TESTS
        return node.name in known and not (
            node.args or node.kwargs or node.dyn_args or node.dyn_kwargs
        )
    if isinstance(node, nodes.Getattr | nodes.Getitem):
        return not isinstance(node, nodes.Getitem) or isinstance(node.arg, nodes.Const)
    return isinstance(node, _PLAIN_NODES)


def _all_nodes(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from _all_nodes(child)


def _parsed(text: str) -> nodes.Template:
    """Return the syntax tree, which is made without evaluating anything."""
    try:
        tree = _environment().parse(text)
    except RecursionError:
        msg = "it is nested too deeply"
        raise TemplateSyntaxError(msg, 1) from None
    for node in tree.find_all((nodes.Filter, nodes.Test)):
        is_filter = isinstance(node, nodes.Filter)
        if node.name not in (_environment().filters if is_filter else _environment().tests):
            msg = f"there is no {'filter' if is_filter else 'test'} {node.name!r}"
            raise TemplateSyntaxError(msg, node.lineno)
    return tree


def compile_expression(text: str) -> Callable[..., Any]:
    """Return a jinja2 expression as a function of a mapping of its variables.

    Raises:
        jinja2.TemplateSyntaxError: the text is not an expression.
    """
    return _environment().compile_expression(text, undefined_to_none=False)
