"""A page in one text: template, style and script, under a Content-Security-Policy.

The policy lets nothing be loaded (``default-src 'none'``), runs the one script and applies the one
style that are known by their hash, and shows only pictures that the page itself carries. What
templates insert is escaped; what the script shows it sets as text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_FOLDER: Final = Path(__file__).with_name("templates")
_LIBRARIES: Final = ("markdown-it", "temml", "diff")
"""The libraries before the script, as they are published; see ``templates/vendor/README.md``."""

_SCRIPTS: Final = (
    "dom",
    "data",
    "comparison",
    "address",
    "formula",
    "markdown",
    "copying",
    "text",
    "told",
    "tree",
    "scores",
    "steps",
    "stepping",
    "answers",
    "difference",
    "sample",
    "search",
    "filters",
    "cells",
    "table",
    "main",
)
"""The parts of the one script, in order."""

_STYLES: Final = (
    "base",
    "head",
    "matrix",
    "cards",
    "plots",
    "samples",
    "sample",
    "text",
    "comparison",
    "print",
)
"""The parts of the one style, in order."""

_SOURCE_MAP: Final = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)
"""The line by which a browser's tools would ask for a file beside the page."""


def render(template: str, /, **context: Any) -> str:  # noqa: ANN401 - whatever the template names
    """Return a page; texts of `context` are escaped by the template."""
    return "".join(rendered(template, **context))


def rendered(template: str, /, **context: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Yield the parts of a page; texts of `context` are escaped by the template."""
    style, script = _style(), _script()
    return (
        _environment()
        .get_template(template)
        .generate(
            **context,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - as above
            policy={"style": _hash(style), "script": _hash(script)},
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
def _style() -> str:
    return "\n".join(_read(f"style/{name}.css") for name in _STYLES)


@cache
def _script() -> str:
    libraries = [_SOURCE_MAP.sub("", _read(f"vendor/{name}.min.js")) for name in _LIBRARIES]
    parts = [_read(f"script/{name}.js") for name in _SCRIPTS]
    return "\n".join([*libraries, '(() => {\n"use strict";', *parts, "})();"])


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
