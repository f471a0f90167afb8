"""Huffman codes as DEFLATE has them: known by their lengths alone (RFC 1951, 3.2.2)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def code_lengths(counts: Sequence[int], longest: int) -> list[int]:
    """Return for each symbol the bits of its code, 0 if it does not occur.

    At least two symbols get a code: some decoders take no code of a single symbol.

    Args:
        counts: how often each symbol occurs.
        longest: most bits of a code. Where the best code has longer ones, rare symbols are taken to
            be less rare until it has none.
    """
    weights = list(counts)
    for symbol in (0, 1):
        if sum(map(bool, weights)) < 2:  # noqa: PLR2004 - see above
            weights[symbol] = weights[symbol] or 1
    while True:
        lengths = _optimal(weights)
        if max(lengths) <= longest:
            return lengths
        weights = [(weight + 1) // 2 for weight in weights]


def _optimal(weights: Sequence[int]) -> list[int]:
    lengths = [0] * len(weights)
    # Of equal weights the tree that was made first is taken first: always the same result.
    heap = [(weight, symbol, [symbol]) for symbol, weight in enumerate(weights) if weight]
    made = len(weights)
    while len(heap) > 1:
        (light, _, one), (heavy, _, other) = heapq.heappop(heap), heapq.heappop(heap)
        for symbol in (joined := one + other):
            lengths[symbol] += 1
        heapq.heappush(heap, (light + heavy, made, joined))
        made += 1
    return lengths


def codes(lengths: Sequence[int]) -> npt.NDArray[np.uint64]:
    """Return each symbol's code, its first bit lowest, as it stands in the stream."""
    found = np.zeros(len(lengths), np.uint64)
    code = 0
    for length in range(1, max(lengths) + 1):
        for symbol in (symbol for symbol, one in enumerate(lengths) if one == length):
            found[symbol] = int(f"{code:0{length}b}"[::-1], 2)
            code += 1
        code <<= 1
    return found
