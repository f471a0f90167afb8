"""Sandboxed jinja2: templates of prompts, and expressions that select rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, Final

from jinja2 import StrictUndefined, Template
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

IMAGE_TAG: Final = "<image>"
"""The tag that stands for a picture, in templates and in inputs."""

PICTURE: Final = "llmeval_picture"
"""The variable that replaces an image tag in a template."""


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


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    # No escaping for HTML: prompts are plain text.
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, extensions=[_ImageTags]
    )


@lru_cache(maxsize=1024)
def compile_template(text: str) -> Template:
    """Return the compiled template; jinja2.TemplateSyntaxError when it is invalid."""
    return _environment().from_string(text)


def compile_expression(text: str) -> Callable[..., Any]:
    """Return a jinja2 expression as a function of a mapping of its variables.

    Raises:
        jinja2.TemplateSyntaxError: the text is not an expression.
    """
    return _environment().compile_expression(text, undefined_to_none=False)
