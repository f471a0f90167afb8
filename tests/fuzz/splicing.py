"""Changes of texts by pieces of others: the beginning of one, some words, the end of another.

Changes of single bytes rarely make anything that a grammar of many words knows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from fuzz.target import bytes_of, text_of


def splicing(
    seeds: Callable[[], Iterable[bytes]], words: Sequence[str]
) -> Callable[[bytes, random.Random], bytes]:
    """Return a change that splices an input with the seeds, with up to two words between."""
    texts: list[str] = []

    def spliced(data: bytes, draw: random.Random) -> bytes:
        if not texts:
            texts.extend(map(text_of, seeds()))
        before, after = text_of(data), draw.choice(texts)
        between = draw.choice(words) * draw.randrange(3)
        cut, resumed = draw.randrange(len(before) + 1), draw.randrange(len(after) + 1)
        return bytes_of(before[:cut] + between + after[resumed:])

    return spliced
