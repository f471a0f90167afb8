"""The models of OpenAI that its Responses API alone serves."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r'^\s*"([\w.:-]+)",?$', re.MULTILINE)
"""A line of a list of literals."""


@cache
def responses_only() -> frozenset[str]:
    """Return their names, as the installed SDK lists them.

    Its lists are read as text: importing the SDK takes 0.7 s of CPU time.
    """
    spec = find_spec("openai")
    if spec is None or spec.origin is None:
        return frozenset()
    shared = Path(spec.origin).parent / "types" / "shared"
    return _names(shared / "responses_model.py") - _names(shared / "chat_model.py")


def _names(file: Path) -> frozenset[str]:
    return frozenset(_NAME.findall(file.read_text(encoding="utf-8")))
