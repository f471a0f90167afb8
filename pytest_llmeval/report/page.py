"""A page in one text: template, style and script, under a Content-Security-Policy.

The policy lets nothing be loaded (``default-src 'none'``), runs the one script and applies the one
style that are known by their hash, and shows only pictures that the page itself carries. Pages of
the local server (`pytest_llmeval.view`) may ask it, and nobody else. What templates insert is
escaped; what the script shows it sets as text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

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


class _Parts(NamedTuple):
    """The parts of a page that a server gives (`pytest_llmeval.view`): it may ask that server."""

    scripts: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    styles: tuple[str, ...] = (*_STYLES, "view")


_SERVED: Final[Mapping[str, _Parts]] = MappingProxyType(
    {
        "run.html.jinja": _Parts(
            (
                *("dom", "server", "state", "served", *_SCRIPTS[1:]),
                *("elements", "label_buttons", "labelling", "growing", "live"),
            ),
            _LIBRARIES,
        ),
        "runs.html.jinja": _Parts(("dom", "server", "state", "runs")),
        "trend.html.jinja": _Parts(("dom", "server", "state", "trend")),
        "label.html.jinja": _Parts(("dom", "server", "label_buttons", "label")),
        "refused.html.jinja": _Parts(("dom",)),
    }
)
"""By the name of the template."""


def render(template: str, /, **context: Any) -> str:  # noqa: ANN401 - whatever the template names
    """Return a page; texts of `context` are escaped by the template."""
    return "".join(rendered(template, **context))


def rendered(template: str, /, **context: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    """Yield the parts of a page; texts of `context` are escaped by the template."""
    parts = _SERVED.get(template, _Parts(_SCRIPTS, _LIBRARIES, _STYLES))
    style, script = _style(parts.styles), _script(parts.libraries, parts.scripts)
    return (
        _environment()
        .get_template(template)
        .generate(
            **context,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - as above
            policy={"style": _hash(style), "script": _hash(script), "served": template in _SERVED},
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
def _script(libraries: tuple[str, ...], names: tuple[str, ...]) -> str:
    vendored = [_SOURCE_MAP.sub("", _read(f"vendor/{name}.min.js")) for name in libraries]
    parts = [_read(f"script/{name}.js") for name in names]
    return "\n".join([*vendored, '(() => {\n"use strict";', *parts, "})();"])


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
