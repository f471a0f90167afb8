"""What a run would ask and cost, without asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from session.one_task import OneTask

from pytest_llmeval.session.estimate import estimate_lines

PRICES = "openai/a: {input: 1000, output: 1000}\nopenai/j: {input: 1000, output: 0}\n"
# "what is N?" has 10 characters: 2 tokens of four characters for each of the three samples.


def lines_of(task: OneTask, *models: str, epochs: int = 1, **settings: Any) -> list[str]:
    (task.folder / "prices.yaml").write_text(PRICES)
    if settings.pop("priced", False):
        settings["prices"] = str(task.folder / "prices.yaml")
    given = task.settings(models=models, **settings)
    return estimate_lines(task.plan(*models, epochs=epochs), given, task.catalog())


def test_requests_and_input_tokens_count_for_each_model_and_epoch(tmp_path: Path) -> None:
    lines = lines_of(OneTask(tmp_path), "openai/a", "openai/b", epochs=2)
    assert lines == [
        "sums · openai/a: 6 requests, about 12 input tokens",
        "sums · openai/b: 6 requests, about 12 input tokens",
        "all: 12 requests, about 24 input tokens",
    ]


def test_with_prices_the_most_that_it_may_cost_is_told(tmp_path: Path) -> None:
    (line,) = lines_of(OneTask(tmp_path), "openai/a", priced=True)
    assert line.endswith(
        "about 6 input tokens, $0.0060 and the output, which nothing limits "
        "($0.0030 by --llmeval-batch)"
    )
    (line,) = lines_of(OneTask(tmp_path, "generate: {max_tokens: 100}\n"), "openai/a", priced=True)
    assert line.endswith(
        "about 6 input tokens, at most about $0.31 with 300 output tokens "
        "($0.15 by --llmeval-batch)"
    )


@pytest.mark.parametrize(
    ("scorer", "judges", "asked"),
    [
        ("exact", ("openai/j",), {}),
        ("judge", (), {}),
        ("judge", ("openai/j",), {"openai/j": 3}),
        ("{judge: {votes: 3}}", ("openai/j",), {"openai/j": 9}),
        ("[exact, {judge: {votes: 3}}]", ("openai/j", "openai/k"), {"openai/j": 9, "openai/k": 9}),
        ("{judge: {models: [openai/own], votes: 2}}", (), {"openai/own": 6}),
        ("{judge: {prompt: helpfulness}}", ("openai/j",), {"openai/j": 3}),
        ("{judge: {prompt: comparison, votes: 2}}", ("openai/j",), {"openai/j": 12}),  # two orders
    ],
)
def test_every_vote_of_every_judge_is_a_request(
    tmp_path: Path, scorer: str, judges: tuple[str, ...], asked: dict[str, int]
) -> None:
    lines = lines_of(OneTask(tmp_path, f"scorer: {scorer}\n"), "openai/a", judges=judges)
    found = {}
    for line in lines[1:]:
        name, _, figures = line.partition(": ")
        if name != "all":
            found[name.removeprefix("sums · ")] = int(figures.split()[0])
    assert found == asked


def test_recorded_replies_cost_nothing(tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").touch()
    task = OneTask(tmp_path, "replay: replies.jsonl\n")
    assert lines_of(task) == ["sums · recorded: recorded replies, nothing is asked"]


def test_stages_that_only_a_solver_can_fill_count_as_they_stand_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("async def solve(sample, context): ...\n")
    task = OneTask(tmp_path, "solver: ./own.py:solve\n")
    prompt = "prompt: {generate: '{{ input }}', check: 'Are you sure of {{ draft }}?'}"
    task.file.write_text(task.file.read_text().replace('prompt: "{{ input }}"', prompt))
    # "Are you sure of {{ draft }}?" has 28 characters: 7 tokens.
    assert lines_of(task, "openai/a") == ["sums · openai/a: 6 requests, about 27 input tokens"]
