"""Scorers that need something of the machine, such as a sandbox, and ask no model."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.test_run_wishes import Bench

from pytest_llmeval.engine.run import Run
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.errors import ToolError
from pytest_llmeval.session.role_check import missing_judges
from pytest_llmeval.session.settings import Settings

SCORER = '''
from dataclasses import dataclass

from pytest_llmeval import Score
from pytest_llmeval.errors import ToolError


@dataclass(frozen=True, kw_only=True)
class Weighs:
    """Scores by a balance, which must be there."""

    broken: bool = False
    name = "weighs"
    grader = "weighs/1"
    scale = 1.0
    only_incorrect = False

    def check(self, target): ...

    async def check_run(self, context):
        await context.shared("balance", self._balance)

    async def _balance(self):
        with open("looked_for.txt", "a") as file:
            file.write("x")
        if self.broken:
            raise ToolError("there is no balance; buy one")
        return 7

    async def prepare(self, sample, completion, context):
        balance = await context.shared("balance", self._balance)
        return [completion.answer, balance, context.setting("place"), list(context.models)]

    def score(self, answer, sample, prepared):
        return Score(name=self.name, value=1.0, correct=True)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weighs.py").write_text(SCORER)
    return tmp_path


def test_what_is_missing_is_looked_for_once_and_told_before_anything_is_paid(folder: Path) -> None:
    bench = Bench(folder, more="answer: whole\nscorer: {./weighs.py:Weighs: {broken: true}}\n")

    async def use(run: Run) -> None:
        for test in bench.plan.tests:
            with pytest.raises(ToolError, match="no balance; buy one"):
                await run.answer("", "completion", {"nodeid": test.nodeid})

    bench.run(use)
    assert bench.asked == []
    assert (folder / "looked_for.txt").read_text() == "x"


def test_what_it_prepares_is_there_ahead_and_no_judge_is_needed(folder: Path) -> None:
    bench = Bench(folder, more="answer: whole\nscorer: ./weighs.py:Weighs\n", samples=1)

    async def use(run: Run) -> None:
        [test] = bench.plan.tests
        solved = Solved.of(await run.answer("", "completion", {"nodeid": test.nodeid}))
        assert solved.prepared == {"weighs": ["what is 0?", 7, "here", []]}
        assert solved.judges == {}

    bench.run(use)
    assert [request.role for request in bench.asked] == ["solver"]
    assert missing_judges(bench.plan, Settings(models=("openai/m",)), bench.catalog) == []
