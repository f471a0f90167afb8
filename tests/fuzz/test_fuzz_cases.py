"""What fuzzing has found stays mended, and the inputs that it begins with break nothing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from types import SimpleNamespace

import pytest
from fuzz.target import NAMES, Target, kept_cases, target_called

CASES = [(name, file) for name in NAMES for file in kept_cases(name)]


NUMBERS = count()
PLANTED: Mapping[str, tuple[str, object]] = {
    "sldp": ("sldp_equals", lambda *_: True),
    "latex": ("read_one", lambda _: SimpleNamespace(answer=next(NUMBERS))),
    "cypher": ("preflight", lambda _: None),
    "verdict": ("unfenced", lambda text: text),
    "replies": ("MOST_TOKENS", 1),
}
"""For each target what is put in place of one of its names, so that a promise is broken."""


def target(name: str) -> Target:
    """Return a target; skip where what it compares with is not installed."""
    if name == "cypher":
        pytest.importorskip("antlr4_cypher", reason="the dependency group fuzz is not installed")
    return target_called(name)


@pytest.mark.parametrize(("name", "file"), CASES, ids=[f"{n}/{file.name}" for n, file in CASES])
def test_what_was_found_breaks_nothing_any_more(name: str, file: object) -> None:
    [data] = [one.read_bytes() for one in kept_cases(name) if one == file]
    target(name).run(data)


def run_all(target: Target) -> None:
    """Run a target over all of its seeds."""
    for seed in target.seeds():
        target.run(seed)


@pytest.mark.parametrize("name", NAMES)
def test_no_seed_breaks_anything(name: str) -> None:
    found = target(name)
    assert len([*found.seeds()]) > 5
    run_all(found)


@pytest.mark.parametrize("name", NAMES)
def test_each_check_finds_a_fault_that_is_planted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = target(name)
    monkeypatch.setattr(f"fuzz.targets.{name}.{PLANTED[name][0]}", PLANTED[name][1])
    with pytest.raises(AssertionError):
        run_all(found)


def test_an_input_that_takes_too_long_is_found() -> None:
    slow = Target(check=lambda _: None, seeds=lambda: (), words=(), cpu_seconds=0.0)
    with pytest.raises(AssertionError, match="3 bytes took"):
        slow.run(b"any")
