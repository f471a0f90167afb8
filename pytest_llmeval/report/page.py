"""A page in one text: template, style and script, under a Content-Security-Policy.

The policy lets nothing be loaded (``default-src 'none'``), runs the one script and applies the one
style that are known by their hash, and shows only pictures that the page itself carries. Pages of
the local server (`pytest_llmeval.view`) may ask it, and nobody else. What templates insert is
escaped; what the script shows it sets as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_FOLDER: Final = Path(__file__).with_name("templates")


class _Parts(NamedTuple):
    """The parts of a page's one script and one style, in order.

    `served`: the page comes from a server, which it may ask, instead of being a file.
    """

    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    served: bool = False


_STYLES: Final = ("base", "head", "cards", "plots", "samples", "sample", "print")
_VIEWED: Final = ("dom", "server", "state")
_REPORT: Final = _Parts(
    ("dom", "data", "address", "formula", "tree", "evidence", "sample", "table", "main"), _STYLES
)
_PARTS: Final[Mapping[str, _Parts]] = MappingProxyType(
    {
        "run.html.jinja": _Parts(
            (
                *("dom", "server", "state", "served", "data", "address", "formula", "tree"),
                *("evidence", "sample", "table", "elements", "label_buttons", "labelling", "main"),
                *("growing", "live"),
            ),
            (*_STYLES, "view"),
            served=True,
        ),
        "runs.html.jinja": _Parts((*_VIEWED, "runs"), (*_STYLES, "view"), served=True),
        "trend.html.jinja": _Parts((*_VIEWED, "trend"), (*_STYLES, "view"), served=True),
        "label.html.jinja": _Parts(
            ("dom", "server", "formula", "label_buttons", "label"), (*_STYLES, "view"), served=True
        ),
        "refused.html.jinja": _Parts(("dom",), (*_STYLES, "view"), served=True),
    }
)
"""By the name of the template; that of the report for others."""


def render(template: str, /, **context: Any) -> str:  # noqa: ANN401 - whatever the template names
    """Return a page; texts of `context` are escaped by the template."""
    return "".join(rendered(template, **context))


def rendered(template: str, /, **context: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Yield the parts of a page; texts of `context` are escaped by the template."""
    parts = _PARTS.get(template, _REPORT)
    style, script = _style(parts.styles), _script(parts.scripts)
    return (
        _environment()
        .get_template(template)
        .generate(
            **context,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - as above
            policy={"style": _hash(style), "script": _hash(script), "served": parts.served},
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _style(names: tuple[str, ...]) -> str:
    return "\n".join(_read(f"style/{name}.css") for name in names)


@cache
def _script(names: tuple[str, ...]) -> str:
    parts = [_read(f"script/{name}.js") for name in names]
    return "\n".join(['(() => {\n"use strict";', *parts, "})();"])


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
