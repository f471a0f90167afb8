"""A hostile answer ends within its limits, scores low, and does not affect the next one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.scoring.eed import Mode, Sandbox

CORPUS = json.loads((Path(__file__).parent / "hostile.json").read_text(encoding="utf-8"))
CASES = [(case, mode) for case in CORPUS for mode in case["modes"]]
TARGET = r"\frac{x^2+1}{2}"
NEXT = r"\frac{x^2+2}{2}"
NEXT_SCORE = 60 - 100 / 7


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(cpu_seconds=0.25, memory_mb=600) as sandbox:
        yield sandbox


def test_there_are_sixty_hostile_inputs_and_more() -> None:
    assert len(CORPUS) >= 60


@pytest.mark.parametrize(
    ("case", "mode"), CASES, ids=[f"{case['name']} {mode}" for case, mode in CASES]
)
def test_a_hostile_answer_costs_at_most_its_own_score(
    case: dict[str, Any], mode: Mode, sandbox: Sandbox
) -> None:
    own = sandbox.score("".join(piece * count for piece, count in case["parts"]), TARGET, mode=mode)
    assert own.score < 60
    assert own.reason
    assert "died" not in own.reason
    assert sandbox.score(NEXT, TARGET, mode=mode).score == pytest.approx(NEXT_SCORE)
