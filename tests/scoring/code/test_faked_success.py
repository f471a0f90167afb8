"""Programs that try to pass without knowing the answer, each really run: none passes."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from sandboxes import ISOLATIONS, TRIED, require
from scoring.code.programs import Surroundings, sample_of, scored

from pytest_llmeval.records import Score
from pytest_llmeval.sandbox.choice import present_isolations
from pytest_llmeval.sandbox.isolation import Isolation
from pytest_llmeval.scoring.code.scorer import CodeScorer

FAKED: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("faked.yaml").read_text("utf-8")
)
TESTS = """
def check(candidate):
    assert all(map(lambda case: candidate(case[0]) == case[1], [(3, 10007)]))
    assert candidate(3) == 10007
    assert candidate(4) == [1, {"a": 2}]
    assert abs(candidate(0.5) - 2.25) < 1e-6
"""
RIGHT = 'def answer(x): return {3: 10007, 4: [1, {"a": 2}], 0.5: 2.25}[x]'
SAMPLE = sample_of(tests=TESTS, entry="answer")
SCORER = CodeScorer(tests="tests", entry="entry", timeout=1, memory=512)

FIRST = next(iter(present_isolations()), TRIED[0])


def runs_in(case: dict[str, Any], isolation: Isolation) -> bool:
    """Whether a case is tried in an isolation; most have nothing to do with it."""
    return bool(case.get("both")) or isolation == FIRST


@cache
def scores(isolation: Isolation) -> dict[str, Score]:
    """Return the scores of all programs, which run beside each other, and of the right one."""
    names = f"PARENT = {os.getpid()}\n"
    programs = {
        case["name"]: names + case["program"] for case in FAKED if runs_in(case, isolation)
    } | {"right": RIGHT}

    async def together() -> list[Score]:
        around = Surroundings(isolation)
        runs = (scored(SCORER, program, SAMPLE, around) for program in programs.values())
        return await asyncio.gather(*runs)

    with tempfile.TemporaryDirectory() as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            found = dict(zip(programs, asyncio.run(together()), strict=True))
        finally:
            tempfile.tempdir = before
        assert list(Path(folder).iterdir()) == []  # no scratch folder is left
    return found


@pytest.mark.parametrize(
    ("case", "isolation"),
    [(case, one) for one in TRIED for case in FAKED if runs_in(case, one)],
    ids=lambda part: part if isinstance(part, str) else part["name"],
)
def test_no_program_passes_that_does_not_know_the_answer(
    case: dict[str, Any], isolation: Isolation
) -> None:
    require(isolation)
    score = scores(isolation)[case["name"]]
    assert score.correct is False, score
    assert score.value is not None
    assert score.value < 1
    # Nothing hostile in what is told of it, and never much.
    told = score.explanation + json.dumps(dict(score.details))
    assert len(told) < 6_000


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_right_program_beside_them_passes_and_nothing_is_left(isolation: Isolation) -> None:
    require(isolation)
    assert scores(isolation)["right"].correct is True
    assert processes_of_programs() == []


def processes_of_programs() -> list[bytes]:
    """Return the command lines of processes of the sandbox whose parent is this process or gone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if b"pytest_llmeval.scoring.code.program_process" in line and parent in {1, os.getpid()}:
            found.append(line)
    return found
