"""Whatever a model writes ends within its limit, scores nothing, and leaves the next answer alone."""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.eed import EedResult, Mode, Sandbox

CORPUS = json.loads((Path(__file__).parent / "hostile.json").read_text(encoding="utf-8"))
CASES = [(case["name"], mode) for case in CORPUS for mode in case["modes"]]
TARGET = r"\frac{x^2+1}{2}"
NEXT = r"\frac{x^2+2}{2}"
NEXT_SCORE = {"corrected": 60 - 100 / 7, "published": 60 - 100 / 7}


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, Mode], tuple[EedResult, EedResult]]:
    """Return for each case its own result and that of the next answer in the same sandbox."""

    def scored(case: dict[str, Any], mode: Mode) -> tuple[EedResult, EedResult]:
        text = "".join(piece * count for piece, count in case["parts"])
        return sandbox.score(text, TARGET, mode=mode), sandbox.score(NEXT, TARGET, mode=mode)

    with Sandbox(2, cpu_seconds=0.25, memory_mb=600) as sandbox, ThreadPoolExecutor(2) as threads:
        running: dict[tuple[str, Mode], Future[tuple[EedResult, EedResult]]] = {
            (case["name"], mode): threads.submit(scored, case, mode) for case in CORPUS for mode in case["modes"]
        }
        return {key: future.result() for key, future in running.items()}


def test_there_are_sixty_hostile_inputs_and_more() -> None:
    assert len(CORPUS) >= 60


@pytest.mark.parametrize(("name", "mode"), CASES, ids=[f"{name} {mode}" for name, mode in CASES])
def test_a_hostile_answer_costs_at_most_its_own_score(
    name: str, mode: Mode, outcomes: dict[tuple[str, Mode], tuple[EedResult, EedResult]]
) -> None:
    own, following = outcomes[name, mode]
    assert own.score < 60
    assert own.reason
    assert "died" not in own.reason
    assert following.score == pytest.approx(NEXT_SCORE[mode])
