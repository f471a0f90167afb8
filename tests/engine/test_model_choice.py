"""Which model answers a test, and which judges it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from engine.small_task import planned, write_task

from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.task.catalog import Catalog


@pytest.fixture(autouse=True)
def no_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without the variables that name a judge."""
    monkeypatch.delenv("JUDGE_DEPLOYMENT", raising=False)
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)


def choice(folder: Path, *, models: Sequence[str] = (), judges: Sequence[str] = ()) -> ModelChoice:
    catalog = Catalog(folder=folder)
    roles = {"judge": judges} if judges else {}
    return ModelChoice(catalog, models=models, roles=roles, seed=None, folder=folder)


def texts(specs: Sequence[ModelSpec]) -> list[str]:
    return [spec.text for spec in specs]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Return a task with recorded replies."""
    (tmp_path / "replies.jsonl").touch()
    return write_task(tmp_path, more="replay: replies.jsonl\n")


def test_a_test_is_answered_by_the_model_it_was_made_for(tmp_path: Path) -> None:
    file = write_task(tmp_path)
    models = choice(tmp_path, models=("openai/a", "openai/b"))
    assert models.solver(planned(file, "1", model="openai/b")).text == "openai/b"


def test_without_a_model_the_tasks_own_recording_answers(tmp_path: Path, recorded: Path) -> None:
    spec = choice(tmp_path).solver(planned(recorded, "1"))
    assert (spec.kind, spec.name, spec.label) == (
        "replay",
        str(tmp_path / "replies.jsonl"),
        "recorded",
    )


def test_a_task_with_neither_is_a_usage_error(tmp_path: Path) -> None:
    file = write_task(tmp_path)
    with pytest.raises(
        UsageError, match="task 'sums' has no recorded replies, and no model is configured"
    ):
        choice(tmp_path).solver(planned(file, "1"))


def test_a_test_of_ones_own_is_answered_by_the_first_model(tmp_path: Path) -> None:
    assert choice(tmp_path, models=("openai/a", "openai/b")).solver(None).text == "openai/a"
    with pytest.raises(UsageError, match="no model is configured: pass --llmeval-model SPEC"):
        choice(tmp_path).solver(None)


def test_recorded_replies_are_judged_by_the_recording_they_came_from(
    tmp_path: Path, recorded: Path
) -> None:
    assert choice(tmp_path).of_role("judge", planned(recorded, "1")) == (
        choice(tmp_path).solver(planned(recorded, "1")),
    )
    spec = "replay/replies.jsonl"
    (typed,) = choice(tmp_path, models=(spec,)).of_role("judge", planned(recorded, "1", model=spec))
    assert typed is not None
    assert typed.label == spec


def test_a_recorded_judge_never_serves_a_live_models_answers(
    tmp_path: Path, recorded: Path
) -> None:
    assert (
        choice(tmp_path, models=("openai/a",)).of_role(
            "judge", planned(recorded, "1", model="openai/a")
        )
        == ()
    )


def test_the_configured_judge_goes_before_all(
    tmp_path: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_DEPLOYMENT", "j")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com")
    models = choice(tmp_path, judges=("openai/judge", "openai/second", "openai/judge"))
    for test in (planned(recorded, "1"), planned(recorded, "1", model="openai/a"), None):
        assert texts(models.of_role("judge", test)) == ["openai/judge", "openai/second"]


AZURE = {"JUDGE_DEPLOYMENT": "j", "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (AZURE, ["azure/j"]),
        ({"JUDGE_DEPLOYMENT": "j"}, []),
        ({**AZURE, "JUDGE_DEPLOYMENT": ""}, []),
        ({**AZURE, "AZURE_OPENAI_ENDPOINT": ""}, []),
    ],
)
def test_azures_variables_name_a_judge_for_live_models(
    recorded: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: list[str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    models = choice(recorded.parent, models=("openai/a",))
    assert texts(models.of_role("judge", planned(recorded, "1", model="openai/a"))) == expected
    assert texts(models.of_role("judge", None)) == expected


def test_recorded_replies_never_ask_azures_judge(
    tmp_path: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_DEPLOYMENT", "j")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com")
    (judge,) = choice(tmp_path).of_role("judge", planned(recorded, "1"))
    assert judge.recorded


def test_judges_that_a_scorer_names_go_before_azures_and_behind_the_sessions(
    tmp_path: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in AZURE.items():
        monkeypatch.setenv(name, value)
    live = planned(recorded, "1", model="openai/a")
    own = ["openai/own", "openai/other", "openai/own"]
    models = choice(tmp_path, models=("openai/a",))
    assert texts(models.of_role("judge", live, own)) == ["openai/own", "openai/other"]
    (judge,) = choice(tmp_path).of_role("judge", planned(recorded, "1"), own)
    assert judge.recorded
    models = choice(tmp_path, models=("openai/a",), judges=("openai/judge",))
    assert texts(models.of_role("judge", live, own)) == ["openai/judge"]


SCORERS = """scorer:
  - {judge: {models: [openai/own]}}
  - {judge: {name: second, models: [openai/own, openai/other]}}
  - exact
"""


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        ((), ["openai/own", "openai/other"]),
        (("openai/judge",), ["openai/judge"]),
        (("openai/a",), ["openai/a"]),
    ],
    ids=["of the scorers", "of the session", "the model itself"],
)
def test_a_sample_is_scored_by_each_judge_of_its_scorers_once(
    tmp_path: Path, judges: tuple[str, ...], expected: list[str]
) -> None:
    file = write_task(tmp_path, more=SCORERS)
    models = choice(tmp_path, models=("openai/a",), judges=judges)
    assert texts(models.scoring(planned(file, "1", model="openai/a"))) == expected


def test_a_task_without_a_scorer_that_asks_needs_no_judge(tmp_path: Path) -> None:
    file = write_task(tmp_path, more="scorer: exact\n")
    models = choice(tmp_path, models=("openai/a",), judges=("openai/judge",))
    assert models.scoring(planned(file, "1", model="openai/a")) == ()


def test_every_model_gets_the_sessions_seed(tmp_path: Path, recorded: Path) -> None:
    catalog = Catalog(folder=tmp_path)
    models = ModelChoice(
        catalog, models=("openai/a",), roles={"judge": ("openai/j",)}, seed=7, folder=tmp_path
    )
    test = planned(recorded, "1", model="openai/a")
    found = [
        models.solver(test),
        models.solver(planned(recorded, "1")),
        *models.of_role("judge", test),
    ]
    assert [spec.seed for spec in found] == [7, 7, 7]


def test_limits_of_one_model_that_differ_are_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rpm"):
        choice(tmp_path, models=("openai/a,rpm=5",), judges=("openai/a,rpm=6",))


def test_without_any_judge_there_is_none(tmp_path: Path) -> None:
    assert choice(tmp_path).of_role("judge", None) == ()
