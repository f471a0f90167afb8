"""Stored replies are scored again without a call, and what changed is told with its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
AGAIN = "--llmeval-reuse=latest,only=on"
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])


@MODES
def test_nobody_is_asked_and_every_change_has_its_cause(project: Project, mode: list[str]) -> None:
    project.run(*SCRIPTED, *mode, "--llmeval-epochs", "2")
    first = (project.path / "reports" / "latest").resolve()
    assert len(project.calls()) == 24
    # Model and epochs are those of the run; 7 never had a reply, and is not asked for one now.
    result = project.run(*mode, "--llmeval-reuse", "latest,only=on")
    result.assert_outcomes(passed=16, failed=6, errors=2)
    assert project.calls() == []
    result.stdout.fnmatch_lines([f"scored again from {first.name}: 0 changed, 24 the same*"])
    result.stdout.fnmatch_lines([f"*run {first.name} has no reply to this request*"])
    assert (project.path / "reports" / "latest").resolve() != first
    assert {row["cached"] for row in project.rows() if row["sample"] != "7"} == {True}

    # The target of 1 changes, a tolerance of 1.5 makes 5 right, and of 2 the first line is now the
    # answer.
    data = (project.path / "data.jsonl").read_text()
    project.write(
        "data.jsonl", data.replace('"id": 1, "question": "what is 1+1", "answer": "2"', _RETARGETED)
    )
    result = project.run(
        *mode,
        f"--llmeval-reuse={first.name},only=on",
        "--llmeval-set",
        "sums.scorer.sldp.tolerance=1.5",
    )
    assert project.calls() == []
    text = " ".join(result.stdout.str().split())
    assert f"scored again from {first.name}: 8 changed, 16 the same" in text
    assert "sums 1 correct incorrect SLDP 1 → 0 data" in text
    assert "sums 5 e2 incorrect correct SLDP 0 → 1 grader" in text
    assert "cause data: 2" in text
    # Of 1 both differ: the target, and the tolerance of the grader.
    assert "cause grader: 8" in text
    assert len(project.summary()["rescoring"]["changed"]) == 8
    assert "cause grader: 8" in (project.path / "reports" / "latest" / "summary.md").read_text()


_RETARGETED = '"id": 1, "question": "what is 1+1", "answer": "9"'


def test_another_answer_rule_and_another_prompt_are_told_apart(project: Project) -> None:
    project.run(*SCRIPTED)
    project.calls()
    result = project.run(AGAIN, "--llmeval-set", "sums.answer=whole")
    text = " ".join(result.stdout.str().split())
    assert "cause answer: 8" in text  # the eight right ones now have two lines that are no number
    project.write(
        "task.yaml", (project.path / "task.yaml").read_text().replace('"Q: ', '"Question: ')
    )
    first = min((project.path / "reports").glob("*Z-*")).name
    result = project.run(f"--llmeval-reuse={first},only=on")
    assert project.calls() == []
    assert set(project.outcomes().values()) == {"error"}
    assert "cause no stored reply: 11" in " ".join(result.stdout.str().split())


def test_samples_that_were_no_part_of_the_run_are_errors_and_counted(project: Project) -> None:
    project.run(*SCRIPTED, "-k", "0001 or 0002 or 0003")
    project.calls()
    result = project.run("-k", "0001 or 0004", AGAIN)
    result.assert_outcomes(passed=1, errors=1, deselected=10)
    assert project.calls() == []
    result.stdout.fnmatch_lines(
        ["not in that run, so without a stored reply: 1", "of that run, not selected again: 2"]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--llmeval-reuse=nowhere,only=on"], "*--llmeval-reuse nowhere: *nowhere: no run here*"),
        (
            [AGAIN, "--llmeval-resume"],
            "*--llmeval-reuse latest,only=on makes a new run*--llmeval-resume*",
        ),
    ],
)
def test_what_cannot_be_scored_again_is_a_usage_error(
    project: Project, arguments: list[str], said: str
) -> None:
    project.run(*SCRIPTED, "-k", "0001")
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])
