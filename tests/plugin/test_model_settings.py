"""Two settings of one model in one run, and seeds, as a real server sees them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

COLD, WARM = "openai/x,temperature=null,seed=9", "openai/x,temperature=1,max_tokens=50"
MODES = pytest.mark.parametrize("mode", ["-n0", "-n2"])


@MODES
def test_two_settings_of_one_model_are_asked_and_told_side_by_side(
    project: Project, model_server: Any, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    # Limits are no settings of requests: rows and test ids do not show them.
    both = ["--llmeval-model", f"{COLD},timeout=30", "--llmeval-model", f"{WARM},rpm=100000"]
    project.write("prices.yaml", "openai/x: {input: 1, output: 1}\n")
    limits = ["--llmeval-limit", "2", "--llmeval-epochs", "2", "--llmeval-seed", "5"]
    result = project.run(
        *both, *limits, mode, "--llmeval-prices", "prices.yaml", "--llmeval-budget", "1usd"
    )
    result.assert_outcomes(failed=8)

    report = model_server.report()
    sent = [
        {name: body[name] for name in ("temperature", "max_tokens", "seed") if name in body}
        for body in (seen["body"] for seen in report["seen"])
    ]
    # The task says temperature 0, which the one setting leaves out and the other replaces.
    cold, warm = (
        [{"seed": 9}],
        [{"temperature": 1, "max_tokens": 50, "seed": seed} for seed in (5, 1005)],
    )
    assert sorted(sent, key=str) == sorted([*cold * 4, *warm * 2], key=str)

    rows = project.rows()
    assert {(row["model"], row["epoch"]) for row in rows} == {
        (model, epoch) for model in (COLD, WARM) for epoch in (1, 2)
    }
    assert "test_sums.py::test_sums[0000-openai-x-temperature-null-seed-9-e1]" in {
        row["nodeid"] for row in rows
    }
    settings = json.loads((project.path / "reports/latest/run.json").read_text())["settings"]
    assert (settings["models"], settings["seed"]) == ([both[1], both[3]], 5)
    # Markdown escapes underlines.
    summary = (project.path / "reports/latest/summary.md").read_text().replace("\\_", "_")
    assert all(label in summary for label in (COLD, WARM))
    # One model at one address: one gateway, whose calls count together.
    result.stdout.fnmatch_lines([f"*engine: {report['requests']} requests*"])


def test_recorded_settings_are_replayed_apart(project: Project) -> None:
    project.write(
        "model.py", "def reply(request):\n    return str(request.parameters['temperature'])\n"
    )
    scripted = [f"python/./model.py:reply,temperature={value}" for value in (1, 2)]
    record = ["--llmeval-keep", "replies.jsonl", "--llmeval-limit", "2"]
    project.run(*(f"--llmeval-model={spec}" for spec in scripted), *record)
    replayed = [f"replay/replies.jsonl,temperature={value}" for value in (2, 1)]
    project.run(*(f"--llmeval-model={spec}" for spec in replayed), "--llmeval-limit", "2")
    assert {(row["model"], row["answer"]) for row in project.rows()} == {
        (replayed[0], "2"),
        (replayed[1], "1"),
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--llmeval-seed", "-1"], "--llmeval-seed: '-1' is not a whole number from 0 on"),
        (["--llmeval-seed", "1.5"], "--llmeval-seed: '1.5' is not a whole number"),
        (
            ["--llmeval-shard", "0/3"],
            "--llmeval-shard: '0/3' is not of the form I/N with I from 1 to N",
        ),
        (["--llmeval-shard", "4/3"], "--llmeval-shard: '4/3' is not of the form I/N"),
        (["--llmeval-shard", "1"], "--llmeval-shard: '1' is not of the form I/N"),
        (["--llmeval-shard", "1/2/3"], "--llmeval-shard: '1/2/3' is not of the form I/N"),
        (
            ["--llmeval-model", "openai/m", "--llmeval-model", "openai/m"],
            "'openai/m' is the same model as 'openai/m'",
        ),
        (
            ["--llmeval-model", "openai/m,base_url=http://me:hunter22@x/v1"],
            "base_url: the address holds a user or password",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_values_that_cannot_be_are_usage_errors(
    pytester: pytest.Pytester, arguments: list[str], told: str
) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        pytester.parseconfigure(*arguments)
    assert told in str(caught.value)
    assert "hunter22" not in str(caught.value)
