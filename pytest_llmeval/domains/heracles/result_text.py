"""What a program returned, as text in the notation of the answers (SLDP).

It is used in the sandbox. Nodes and their ids show as symbols, arrays of three numbers as points,
sets sorted, so that the same result has the same text on every machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, runtime_checkable

from pytest_llmeval.domains.heracles.rows import natural
from pytest_llmeval.domains.heracles.scene_object import NodeSymbol, SceneGraphNode

_DIGITS = 6
"""Digits after the point: the last ones of a sum differ between processors."""

_POINT = (3,)
_BARE = re.compile(r"[^\W\d]\w*|\d+[^\W\d]\w*")


@runtime_checkable
class _ArrayLike(Protocol):
    """An array or a number of numpy, which is not loaded unless the program needs it."""

    dtype: Any
    shape: tuple[int, ...]

    def tolist(self) -> Any: ...  # noqa: ANN401 - nested lists of numbers


def result_text(value: object) -> str:  # noqa: PLR0911 - one for each kind of value
    """Return a value as text.

    Raises:
        RecursionError: it is nested too deeply, or holds itself.
    """
    match value:
        case SceneGraphNode() | NodeSymbol():
            return str(value)
        case _ArrayLike():
            numbers = value.tolist()
            if value.shape == _POINT and value.dtype.kind == "f":
                return f"POINT({' '.join(map(result_text, numbers))})"
            return result_text(numbers)
        case str():
            return value if _BARE.fullmatch(value) else json.dumps(value, ensure_ascii=False)
        case bool() | None:
            return str(value)
        case float():
            return str(round(value, _DIGITS))
        case Mapping():
            pairs = (f"{result_text(key)}: {result_text(one)}" for key, one in value.items())
            return f"{{{', '.join(pairs)}}}"
        case AbstractSet():
            return f"<{', '.join(sorted(map(result_text, value), key=natural))}>"
        case list() | tuple():
            return f"[{', '.join(map(result_text, value))}]"
        case _:
            return str(value)
