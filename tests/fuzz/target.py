"""What is fuzzed: a function of bytes that raises when a promise is broken, with its seeds."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = ("sldp", "latex", "cypher", "verdict", "replies")


@dataclass(frozen=True, kw_only=True)
class Target:
    """One thing that reads hostile texts.

    Attributes:
        check: reads an input and raises AssertionError, or whatever the code under test raises,
            where a promise is broken.
        seeds: inputs to begin with.
        words: pieces that inputs are made of.
        longest: bytes of an input at most.
        mutate: changes an input in a way of its format's; None for an input that it cannot change.
        cpu_seconds: CPU time that one input may take, instrumented.
    """

    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[str, ...]
    longest: int = 1_000
    mutate: Callable[[bytes, random.Random], bytes | None] = lambda *_: None
    cpu_seconds: float = 5.0

    def run(self, data: bytes) -> None:
        """Check one input; one that takes too much time is as bad as one that raises."""
        began = time.process_time()
        self.check(data)
        took = time.process_time() - began
        assert took < self.cpu_seconds, f"{len(data)} bytes took {took:.1f} s of CPU time"


def target_called(name: str) -> Target:
    """Return a target by its name; imports what it tests."""
    found = import_module(f"fuzz.targets.{name}").TARGET
    assert isinstance(found, Target)
    return found


def kept_cases(name: str) -> list[Path]:
    """Return the inputs that once broke a promise of a target."""
    return sorted((FOLDER / "cases" / name).glob("*"))


def text_of(data: bytes) -> str:
    """Return bytes as a text: invalid UTF-8 becomes lone surrogates, as JSON can hold."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Return the bytes of which `text_of` makes a text again."""
    return text.encode("utf-8", "surrogateescape")
