"""What scorers see of a run that is scored again."""

from __future__ import annotations

from pathlib import Path

from servers.fixture import ModelServer
from session.judged_run import JudgedRun

from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.session.rescore import rescore
from pytest_llmeval.session.rescore_plan import RescorePlan
from pytest_llmeval.session.scorer_option import read_scorers

SAMPLES = 3

SEEING = """
from dataclasses import dataclass
from pytest_llmeval import Score

@dataclass(frozen=True)
class Seeing:
    '''Scores whether the transcript has the one reply of the model, and no other.'''
    name: str = "seeing"
    grader, scale, only_incorrect = "seeing/1", 1.0, False

    def check(self, target): ...
    async def prepare(self, sample, completion, context):
        return [call.asked.role for call in completion.transcript.calls]
    def score(self, answer, sample, prepared):
        right = prepared == ["solver"]
        return Score(name=self.name, value=float(right), correct=right)
"""


def test_scorers_see_what_the_solver_did_then_and_nothing_of_other_scorers(
    tmp_path: Path, model_server: ModelServer
) -> None:
    (tmp_path / "own.py").write_text(SEEING)
    bench = JudgedRun(tmp_path, model_server, samples=SAMPLES)
    bench.program()
    run, _ = bench.run(bench.judge())
    scorers = read_scorers((f"{bench.folder}/own.py:Seeing",))
    plan = RescorePlan(read_run(run), bench.settings(models=()), scorers)
    rows = rescore(plan, run.parent, bench.told.append).found.rows
    assert [row.outcome for row in rows] == ["correct"] * SAMPLES
