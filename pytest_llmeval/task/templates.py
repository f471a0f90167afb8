"""Sandboxed jinja2, set up once: templates for prompts, expressions for choosing rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, Final

from jinja2 import StrictUndefined, Template
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

IMAGE_TAG: Final = "<image>"
PICTURE: Final = "llmeval_picture"
"""The variable that stands for an image tag written in a template."""


class _ImageTags(Extension):
    """Reads ``<image>`` in a template's own text as ``{{ llmeval_picture }}``."""

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
    # Prompts are plain text: escaping for HTML would change what the model reads.
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, extensions=[_ImageTags]
    )


@lru_cache(maxsize=1024)
def compile_template(text: str) -> Template:
    """Return the compiled template; jinja2.TemplateSyntaxError when it is none."""
    return _environment().from_string(text)


def compile_expression(text: str) -> Callable[..., Any]:
    """Return the expression as a function of its variables; jinja2.TemplateSyntaxError when it is none."""
    return _environment().compile_expression(text, undefined_to_none=False)
