"""Changes of JSON texts that keep them JSON: what stands at a place is replaced, left out or moved.

Changes of single bytes rarely turn a string into a list; readers of replies meet such things.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -5, 10**30, 0.5, 1e300, float("nan"), float("inf")),
    *("", "text", "\ud83d", "1", "null", [], {}, [[]], [{}], [None], ["text"], {"type": []}),
    {"text": 1},
)
"""Values that may stand where others are expected."""


def mutated(data: bytes, draw: random.Random) -> bytes | None:
    """Return JSON with one to three changes, behind its first byte; None for invalid JSON."""
    try:
        tree = json.loads(data[1:])
    except (ValueError, RecursionError):
        return None
    for _ in range(draw.randint(1, 3)):
        places = [*_places(tree)]
        if not places:
            return None
        holder, key = draw.choice(places)
        _change(holder, key, draw, places)
    return data[:1] + json.dumps(tree).encode()


def _change(holder: Any, key: Any, draw: random.Random, places: list[tuple[Any, Any]]) -> None:
    match draw.randrange(5):
        case 0:
            del holder[key]
        case 1:
            other, other_key = draw.choice(places)
            # As a copy: a tree that holds itself is no JSON.
            holder[key] = json.loads(json.dumps(other[other_key]))
        case 2:
            holder[key] = [holder[key]]
        case _:
            holder[key] = json.loads(json.dumps(draw.choice(ODD)))


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a tree: its holder, and the key or index there."""
    if not isinstance(tree, dict | list):
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield tree, key
        yield from _places(value)
