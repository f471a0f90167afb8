"""A resumed run has one grader for each score, from its first row to its last."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from example_rows import row
from session.one_task import OneTask

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.scoring.grader import panel_of
from pytest_llmeval.session.grading import check_same_graders, graders_json, task_graders
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

MODEL = "openai/m"

CONFIGURATIONS = tuple(
    itertools.product(
        ("judge", "{judge: {votes: 3}}", "{judge: {prefilter: off}}", "{sldp: {tolerance: 0.5}}"),
        ((), ("openai/a",), ("openai/b",), ("openai/a", "openai/b")),
    )
)
"""Scorers of a task, and judges of a session; judges are nothing to `sldp`."""


class Session:
    """A task under one scorer and some judges."""

    def __init__(self, folder: Path, scorer: str, judges: tuple[str, ...]) -> None:
        """Write the task."""
        folder.mkdir(exist_ok=True)
        task = OneTask(folder, f"scorer: {scorer}\n")
        self.catalog: Catalog = task.catalog()
        self.settings: Settings = task.settings(models=(MODEL,), judges=judges)
        self.plan: Plan = task.plan(MODEL)

    @property
    def graders(self) -> list[Json]:
        return graders_json(task_graders(self.plan, self.settings, self.catalog))

    @property
    def grader(self) -> str:
        (only,) = task_graders(self.plan, self.settings, self.catalog).values()
        return only

    def resume(self, run: StoredRun) -> None:
        check_same_graders(self.plan, self.settings, self.catalog, run)


def stored(graders: list[Json], *rows: Row, resumed: list[Json] | None = None) -> StoredRun:
    info: dict[str, Json] = {"graders": graders}
    info |= {} if resumed is None else {"resumed": resumed}
    return StoredRun(path=Path("reports/before"), info=info, rows=rows)


def scored(name: str, grader: str, **fields: Any) -> Row:
    score = Score(name=name, value=1.0, correct=True, grader=grader)
    return row("0", task="sums", model=MODEL, scores=(score,), **fields)


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Session]:
    folder = tmp_path_factory.mktemp("tasks")
    return [Session(folder / str(number), *one) for number, one in enumerate(CONFIGURATIONS)]


def test_every_pair_of_sessions_that_grade_otherwise_is_refused(sessions: list[Session]) -> None:
    refused = 0
    for first, second in itertools.product(sessions, repeat=2):
        name = str(first.graders[0]["score"])  # type: ignore[index,call-overload]  # JSON
        run = stored(first.graders, scored(name, first.grader))
        if first.grader == second.grader:
            second.resume(run)
            continue
        of_one_score = name == second.graders[0]["score"]  # type: ignore[index,call-overload]
        with pytest.raises(UsageError) as error:
            second.resume(run)
        refused += 1
        assert second.grader in str(error.value)
        assert not of_one_score or first.grader in str(error.value)
        assert "--llmeval-reuse" in str(error.value)
    # Twelve sessions with a judge differ from all others, four with sldp from those twelve.
    assert refused == 12 * 15 + 4 * 12


def test_a_run_without_scores_goes_on_under_any_grader(sessions: list[Session]) -> None:
    run = stored(sessions[0].graders, row("0", "error", task="sums", model=MODEL))
    for session in sessions:
        session.resume(run)


def test_the_order_of_judges_and_of_their_settings_is_nothing(tmp_path: Path) -> None:
    one = Session(tmp_path / "1", "judge", ("openai/a,seed=1,temperature=1", "openai/b,rpm=5"))
    two = Session(tmp_path / "2", "judge", ("openai/b", "openai/a,temperature=1,seed=1"))
    assert one.grader == two.grader
    assert panel_of(one.grader) == "openai/a,seed=1,temperature=1 + openai/b"


def test_a_judge_at_another_address_is_another_one(tmp_path: Path) -> None:
    texts = {
        Session(tmp_path / str(number), "judge", (spec,)).grader
        for number, spec in enumerate(
            ["openai/a", "openai/a,base_url=http://localhost:1/v1", "azure/a", "openai/a,key=B_KEY"]
        )
    }
    assert len(texts) == 3  # the variable of a key is none of it


def test_a_recording_is_the_judge_that_it_recorded(tmp_path: Path) -> None:
    def recording(name: str, *judges: str) -> str:
        lines: list[dict[str, Json]] = [{"content": {}}]
        lines += [{"model": "openai/solver"}] if judges else []
        lines += [{"model": judge, "role": "judge"} for judge in judges]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / name).write_text(text + '{"content": {"cut o')
        return f"replay/{tmp_path / name}"

    def judge(spec: str) -> str:
        return panel_of(Session(tmp_path / "task", "judge", (spec,)).grader)

    assert judge(recording("one.jsonl", "openai/a", "openai/a")) == "openai/a" == judge("openai/a")
    assert judge(recording("two.jsonl", "openai/b", "openai/a")) == "openai/a|openai/b"
    none = judge(recording("none.jsonl"))
    assert none.startswith("replay/none.jsonl#")
    assert str(tmp_path) not in none
    assert judge(recording("none.jsonl", "openai/c")) == "openai/c"  # read again when it changed
    # An older recording tells no roles: whoever judged, it was the one model in it.
    (tmp_path / "old.jsonl").write_text('{"model": "openai/m"}\n{"model": "openai/m"}\n')
    assert judge(f"replay/{tmp_path / 'old.jsonl'}") == "openai/m"


def test_an_older_run_that_names_no_graders_is_refused_with_those_of_its_rows(
    tmp_path: Path,
) -> None:
    session = Session(tmp_path, "judge", ("openai/a",))
    with pytest.raises(UsageError, match="the score 'judge' by judge/1; this session grades by"):
        session.resume(stored([], scored("judge", "judge/1")))


def test_the_last_session_of_a_run_counts(tmp_path: Path) -> None:
    one = Session(tmp_path / "1", "judge", ("openai/a",))
    two = Session(tmp_path / "2", "judge", ("openai/b",))
    run = stored([], scored("judge", two.grader), resumed=[{"graders": two.graders}])
    two.resume(run)
    with pytest.raises(UsageError):
        one.resume(run)


def test_options_that_a_test_chooses_by_sample_are_no_other_grader(tmp_path: Path) -> None:
    session = Session(tmp_path, "sldp", ())
    session.resume(stored(session.graders, scored("SLDP", "sldp/1 tolerance=7")))


def test_a_judge_that_the_task_does_not_declare_is_the_same_too(tmp_path: Path) -> None:
    one = Session(tmp_path, "judge", ("openai/a",))
    row_of_one = scored("judge", one.grader)
    (tmp_path / "bare").mkdir()
    task = OneTask(tmp_path / "bare")
    for judges, allowed in ((("openai/a",), True), (("openai/b",), False), ((), False)):
        settings = task.settings(models=(MODEL,), judges=judges)
        run = stored([], row_of_one)
        if allowed:
            check_same_graders(task.plan(MODEL), settings, task.catalog(), run)
            continue
        with pytest.raises(UsageError, match="One accuracy has one grader"):
            check_same_graders(task.plan(MODEL), settings, task.catalog(), run)
