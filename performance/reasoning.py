"""Measure how reasoning is set apart: CPU seconds by kind of text and size, as a table and JSON.

Run from the checkout: ``python performance/reasoning.py``. A growth of 10 from one size to the next
is linear; the hostile texts are those that a careless reader takes the square of.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_llmeval.engine.reasoning import split_reasoning

SIZES: Final = (20_000, 200_000, 2_000_000)
KINDS: Final = {
    "no marks": r"Let x < 5, so [1] \frac{a}{b} = 2. ",
    "thoughts, answer": "I think of 4, no, 5.\n",
    "opening marks": "<think>",
    "closing marks": "</think>",
    "pairs in a line": "x <think>y</think> z ",
    "quoted marks": "a `</think>` b ",
    "headers": "<|channel|>analysis<",
    "end marks": "<|end|>",
    "blanks": " ",
}


def text_of(kind: str, size: int) -> str:
    """Return a text of a kind with about `size` characters."""
    text = KINDS[kind] * (size // len(KINDS[kind]))
    if kind == "no marks":
        return text
    return f"<think>{text}</think>\n5" if kind == "thoughts, answer" else f"</think>5{text}"


def seconds(text: str) -> float:
    """Return the CPU seconds that setting the reasoning of a text apart takes."""
    start = time.process_time()
    split_reasoning(text)
    return time.process_time() - start


def main() -> None:
    """Print the table and the JSON line."""
    measured = {kind: [seconds(text_of(kind, size)) for size in SIZES] for kind in KINDS}
    print(f"{'CPU ms at':20}" + "".join(f"{size:>12,}" for size in SIZES))
    for kind, row in measured.items():
        print(f"{kind:20}" + "".join(f"{1000 * taken:12.2f}" for taken in row))
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
