"""What is refused before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from example_pictures import PNG
from session.one_task import OneTask

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.session.plan_check import (
    check_models,
    check_plan,
    check_report_folder,
    check_settings,
    task_mistakes,
)
from pytest_llmeval.session.role_check import missing_judges

CODE = """
from pytest_llmeval import Completion

def reply(request): return "1"
async def solve(sample, context, *, times: int = 1): return "1"
def one(sample): return "1"
def rule(text): return text
def no_rule(): return ""
def length(rows, *, longest: int = 5): return 1.0
"""


@pytest.fixture(autouse=True)
def _no_judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("JUDGE_DEPLOYMENT", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "own.py").write_text(CODE)


def checked(task: OneTask, *models: str, **settings: Any) -> None:
    """Check a task and its plan under models; raise what is wrong with either."""
    plan, given = task.plan(*models), task.settings(models=models, **settings)
    for mistake in task_mistakes(plan, given, task.catalog()).values():
        raise mistake
    check_plan(plan, given, task.catalog())


@pytest.mark.parametrize(
    "more",
    [
        "",
        "scorer: [exact, judge]\n",
        "solver: {./own.py:solve: {times: 2}}\nanswer: ./own.py:rule\n",
        "scorer: exact\nmetrics: [accuracy, exact, {./own.py:length: {longest: 3}}]\n",
    ],
)
def test_a_plan_that_can_be_run_is_let_through(tmp_path: Path, more: str) -> None:
    checked(OneTask(tmp_path, more), "openai/m", samples=("0", "2"))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("solver: ./own.py:absent\n", "own.py: has no 'absent'"),
        ("solver: ./own.py:one\n", "sums.yaml:4: solver: ./own.py:one must take (sample, context)"),
        (
            "solver: {./own.py:solve: {times: two}}\n",
            "sums.yaml:4: solver../own.py:solve.times: is 'two': input should be a valid integer",
        ),
        ("answer: ./own.py:no_rule\n", "sums.yaml:4: answer: ./own.py:no_rule must take (text)"),
        ("answer: ./own.py:absent\n", "own.py: has no 'absent'"),
        ("metrics: [acuracy]\n", "sums.yaml:4: metrics.0: is 'acuracy'; did you mean 'accuracy'?"),
        (
            "metrics: [accuracy, {pass_at: [0]}]\n",
            "sums.yaml:4: metrics.1.pass_at.k: ",
        ),
        (
            "metrics: [{./own.py:length: {longest: far}}]\n",
            "sums.yaml:4: metrics.0../own.py:length.longest: is 'far'",
        ),
    ],
)
def test_a_part_of_the_task_that_cannot_be_used_is_refused_with_its_line(
    tmp_path: Path, more: str, told: str
) -> None:
    with pytest.raises(TaskError) as refused:
        checked(OneTask(tmp_path, more), "openai/m")
    assert told in str(refused.value)


@pytest.mark.parametrize("prompt", ["{{ input }}", "{{ input }} {# {{ tools }} #}", "tools"])
def test_a_prompt_that_does_not_tell_an_agent_of_its_tools_is_refused(
    tmp_path: Path, prompt: str
) -> None:
    (tmp_path / "own.py").write_text('def now():\n    """Tell the time."""\n    return "12:00"\n')
    agent = "solver: {agent: {tools: {./own.py:now: }, calls: CALLS}}\n"
    task = OneTask(tmp_path, agent.replace("CALLS", "text"))

    def write(text: str, calls: str) -> None:
        given = task.file.read_text().splitlines(keepends=True)
        given[2:] = [f'prompt: "{text}"\n', agent.replace("CALLS", calls)]
        task.file.write_text("".join(given))

    write(prompt, "text")
    with pytest.raises(TaskError, match=r"sums.yaml:3: prompt: .*write \{\{ tools \}\} into"):
        checked(task, "openai/m")
    write(prompt, "native")
    checked(task, "openai/m")
    write("{{ input }} {{ tools }}", "text")
    checked(task, "openai/m")


@pytest.mark.parametrize(
    ("scorer", "told"),
    [
        (
            "{judge: {prompt: faithfulness}}",
            "the judge's prompt faithfulness:17: metadata has no 'context' (it has: nothing); add",
        ),
        (
            "[exact, {judge: {prompt: ./judge.md}}]",
            "judge.md:2: metadata has no 'hint' (it has: nothing); add",
        ),
    ],
)
def test_a_judges_question_that_cannot_be_made_of_a_sample_is_refused_before_anything_is_asked(
    tmp_path: Path, scorer: str, told: str
) -> None:
    (tmp_path / "judge.md").write_text("Hint:\n{{ metadata.hint }}\n{{ candidate }}")
    with pytest.raises(TaskError) as refused:
        checked(OneTask(tmp_path, f"scorer: {scorer}\n"), "openai/m")
    assert str(refused.value).startswith(f"{tmp_path}/sums.yaml:4: scorer.")
    assert told in str(refused.value)
    assert str(refused.value).endswith(" is defined %} (sample '0')")


def test_a_metric_may_name_a_criterion_of_a_rubric(tmp_path: Path) -> None:
    rubric = "scorer: {judge: {prompt: helpfulness, criteria: {style: Is it clear?}}}\n"
    checked(OneTask(tmp_path, f"{rubric}metrics: [accuracy, judge.style]\n"), "openai/m")
    with pytest.raises(TaskError, match=r"judge\.stile"):
        checked(OneTask(tmp_path, f"{rubric}metrics: [judge.stile]\n"), "openai/m")


def test_a_recording_that_is_not_there_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"sums.yaml:4: replay: .*none.jsonl: .*cannot be read"):
        checked(OneTask(tmp_path, "replay: none.jsonl\n"))
    checked(OneTask(tmp_path, "replay: none.jsonl\n"), "openai/m")


def test_an_override_of_an_unknown_task_is_refused(tmp_path: Path) -> None:
    told = "--llmeval-set names task 'sumss'; tasks collected here: sums"
    with pytest.raises(UsageError, match=told):
        checked(OneTask(tmp_path), "openai/m", overrides={"sumss": {"answer": "whole"}})


def test_an_unknown_sample_is_refused(tmp_path: Path) -> None:
    told = "--llmeval-sample '9': no task collected here has a sample with this id"
    with pytest.raises(UsageError, match=told):
        checked(OneTask(tmp_path), "openai/m", samples=("0", "9"))


def test_a_task_without_a_model_is_refused(tmp_path: Path) -> None:
    told = "task 'sums' has no recorded replies, and no model is configured"
    with pytest.raises(UsageError, match=told):
        checked(OneTask(tmp_path))


def test_a_model_that_reads_no_pictures_is_refused_for_a_task_with_some(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(PNG)
    task = OneTask(tmp_path, picture="p.png")
    checked(task, "openai/gpt-5.1")
    with pytest.raises(UsageError, match="o3-mini"):
        checked(task, "openai/gpt-5.1", "openai/o3-mini")
    checked(OneTask(tmp_path), "openai/o3-mini")


@pytest.mark.parametrize(
    ("more", "judges"),
    [
        ("", ()),
        ("scorer: [exact, judge]\n", ("openai/dear",)),
        ("scorer: {judge: {models: [openai/dear]}}\n", ()),
    ],
    ids=["the model", "the session's judge", "the scorer's judge"],
)
def test_with_a_budget_in_dollars_every_model_that_is_asked_needs_a_price(
    tmp_path: Path, more: str, judges: tuple[str, ...]
) -> None:
    model = "openai/dear" if not more else "openai/cheap"
    (tmp_path / "prices.yaml").write_text("openai/cheap: {input: 1, output: 1}\n")
    given = {"judges": judges, "prices": str(tmp_path / "prices.yaml")}
    checked(OneTask(tmp_path, more), model, **given, budget="5Mtok")
    with pytest.raises(UsageError, match="no price is known for openai/dear"):
        checked(OneTask(tmp_path, more), model, **given, budget="5usd")


@pytest.mark.parametrize(
    ("more", "judges", "remark"),
    [
        ("scorer: judge\n", (), True),
        ("scorer: [exact, judge]\n", (), True),
        ("scorer: judge\n", ("openai/j",), False),
        ("scorer: {judge: {models: [openai/j]}}\n", (), False),
        ("scorer: exact\n", (), False),
        ("", (), False),
    ],
)
def test_a_judge_that_is_missing_is_remarked(
    tmp_path: Path, more: str, judges: tuple[str, ...], *, remark: bool
) -> None:
    task = OneTask(tmp_path, more)
    settings = task.settings(models=("openai/m",), judges=judges)
    found = missing_judges(task.plan("openai/m"), settings, task.catalog())
    told = "task 'sums' is scored by a judge and none is configured: pass --llmeval-judge SPEC"
    assert found == ([told] if remark else [])


def test_a_model_without_its_key_or_function_is_refused_when_it_is_asked(tmp_path: Path) -> None:
    task = OneTask(tmp_path)
    for model, told in (
        ("openai/m", "OPENAI_API_KEY"),
        ("python/./own.py:absent", "has no 'absent'"),
    ):
        settings = task.settings(models=(model,))
        with pytest.raises(UsageError, match=told):
            check_models(task.plan(model), settings, task.catalog())
    model = "python/./own.py:reply"
    check_models(task.plan(model), task.settings(models=(model,)), task.catalog())


@pytest.mark.parametrize("stored", [{"resume": "latest"}, {"reuse": "replies.jsonl"}])
def test_a_run_that_may_find_its_replies_in_a_store_needs_no_key_yet(
    tmp_path: Path, stored: dict[str, str]
) -> None:
    task = OneTask(tmp_path)
    settings = task.settings(models=("openai/m",), **stored)
    check_models(task.plan("openai/m"), settings, task.catalog())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"models": ("gpt-5.1",)}, "unknown model spec 'gpt-5.1'"),
        ({"judges": ("gpt-5.1",)}, "unknown model spec 'gpt-5.1'"),
        ({"models": ("openai/a,rpm=5",), "judges": ("openai/a,rpm=6",)}, "rpm"),
        (
            {"keep": "replies.jsonl", "models": ("openai/a", "openai/b")},
            "takes one --llmeval-model",
        ),
        (
            {"keep": "replies.jsonl", "judges": ("openai/a", "openai/b")},
            "takes one --llmeval-judge",
        ),
        ({"keep": "replies.jsonl,max_age=soon"}, "--llmeval-keep"),
        ({"reuse": "latest"}, "--llmeval-reuse"),
    ],
)
def test_settings_that_cannot_be_read_are_refused(
    tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        check_settings(OneTask(tmp_path).settings(**given))


def test_one_recording_may_keep_a_model_under_several_settings_and_its_judge(
    tmp_path: Path,
) -> None:
    models = ("openai/a", "openai/a,temperature=0")
    settings = OneTask(tmp_path).settings(models=models, judges=("openai/j",), keep="replies.jsonl")
    check_settings(settings)


def test_a_report_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    task = OneTask(tmp_path)
    check_report_folder(task.settings())
    check_report_folder(task.settings(report=str(tmp_path / "a" / "b")))
    (tmp_path / "file").write_text("x")
    for place in ("file", "file/below"):
        with pytest.raises(UsageError, match="is not a folder that can be written to"):
            check_report_folder(task.settings(report=str(tmp_path / place)))


def test_all_wrong_checks_of_samples_are_told_together_with_their_lines(tmp_path: Path) -> None:
    task = OneTask(tmp_path)
    fields = "{input: q, target: null, metadata: {checks: checks}}"
    task.file.write_text(
        f"name: sums\ndataset: {{path: sums.jsonl, fields: {fields}}}\n"
        'prompt: "{{ input }}"\nscorer: checks\n'
    )
    checks = ('[{"number": {"target": "1"}}]', '["exact"]', '["wrods"]')
    rows = (f'{{"id": {n}, "q": "?", "checks": {one}}}\n' for n, one in enumerate(checks))
    (tmp_path / "sums.jsonl").write_text("".join(rows))
    with pytest.raises(TaskError) as refused:
        checked(task, "openai/m")
    first, second = str(refused.value).splitlines()
    assert first.startswith(
        f"{tmp_path}/sums.jsonl:2: row 2: metadata.checks[0] exact: there is no"
    )
    assert "sums.jsonl:3: row 3: metadata.checks[0] wrods: " in second
    assert second.endswith("(sample '2')")
