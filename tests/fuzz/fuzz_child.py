"""The process in which atheris searches: one target, until its time is over or a promise breaks.

``python fuzz_child.py TARGET CORPUS [LIBFUZZER'S OPTIONS]``, with tests/ on the path. What it
prints is libFuzzer's, and may hold hostile texts: only `fuzzing.py` reads it.
"""

from __future__ import annotations

import random
import sys

import atheris

with atheris.instrument_imports(include=["pytest_llmeval"], enable_loader_override=False):
    from fuzz.target import target_called

    TARGET = target_called(sys.argv[1])

SHARE = 0.5
"""Share of the changes that are made in the format's own way."""


def mutate(data: bytes, longest: int, seed: int) -> bytes:
    """Return an input that is changed in its format's way, or by libFuzzer, which also crosses."""
    draw = random.Random(seed)
    changed = TARGET.mutate(data, draw) if draw.random() < SHARE else None
    if changed is None or len(changed) > longest:
        return bytes(atheris.Mutate(data, longest))
    return changed


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGET.run, custom_mutator=mutate)
    atheris.Fuzz()
