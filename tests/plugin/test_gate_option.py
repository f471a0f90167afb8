"""Under a gate samples never decide over the exit status; the gate may only raise 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
LENIENT = "coverage: 0.9\nrules:\n  sums.accuracy: {min: 0.4}\n"
STRICT = "coverage: 0.9\nrules:\n  sums.accuracy: {min: 0.99}\n"
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])


@MODES
def test_a_met_gate_passes_though_samples_are_wrong(project: Project, mode: list[str]) -> None:
    project.write("gate.yaml", LENIENT)
    result = project.run(*SCRIPTED, *mode, "--llmeval-gate", "gate.yaml")
    result.assert_outcomes(passed=8, xfailed=3, skipped=1)
    assert result.ret == pytest.ExitCode.OK
    assert "8 passed" in result.outlines[-1]
    assert project.outcomes()["5"] == "incorrect"
    assert project.outcomes()["7"] == "error"


@pytest.mark.parametrize(
    "mode", [["-n0"], ["-n2"], ["-n2", "-qq", "--tb=line", "--no-summary"]], ids=str
)
def test_a_missed_gate_fails_the_session_and_says_last_by_which_rule(
    project: Project, mode: list[str]
) -> None:
    project.write("gate.yaml", STRICT)
    result = project.run(*SCRIPTED, *mode, "--llmeval-gate", "gate.yaml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*sums*accuracy*0.99*"])
    assert result.outlines[-1] == "gate not passed: 1 of 4 rules: sums.accuracy - exit status 1"


def test_coverage_below_one_fails_unless_the_gate_allows_it(project: Project) -> None:
    project.write("gate.yaml", "rules:\n  sums.accuracy: {min: 0.4}\n")
    assert project.run(*SCRIPTED, "--llmeval-gate", "gate.yaml").ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("test_own.py", "def test_own():\n    assert False\n", pytest.ExitCode.TESTS_FAILED),
        ("test_own.py", "def test_own(:\n", pytest.ExitCode.INTERRUPTED),
        (
            "test_own.py",
            "def test_own():\n    raise KeyboardInterrupt\n",
            pytest.ExitCode.INTERRUPTED,
        ),
    ],
    ids=["own test fails", "collection error", "Ctrl-C"],
)
def test_a_met_gate_hides_nothing_else(
    project: Project, name: str, text: str, status: pytest.ExitCode
) -> None:
    project.write("gate.yaml", "coverage: 0\nrules:\n  sums.accuracy: {min: 0}\n")
    project.write(name, text)
    assert project.run(*SCRIPTED, "--llmeval-gate", "gate.yaml", "-k", "own or sums").ret == status


def test_nothing_collected_stays_nothing_collected(project: Project) -> None:
    project.write("gate.yaml", LENIENT)
    result = project.run(*SCRIPTED, "--llmeval-gate", "gate.yaml", "-k", "nothing")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_recorded_replies_fail_a_gate_that_does_not_allow_them(project: Project) -> None:
    project.run(*SCRIPTED, "--llmeval-keep", "replies.jsonl")
    project.write("gate.yaml", LENIENT)
    recorded = ["--llmeval-model", "replay/replies.jsonl", "--llmeval-gate", "gate.yaml"]
    assert project.run(*recorded).ret == pytest.ExitCode.TESTS_FAILED
    project.write("gate.yaml", "recorded: allowed\n" + LENIENT)
    assert project.run(*recorded).ret == pytest.ExitCode.OK


def test_a_wrong_gate_is_refused_before_anything_is_asked(project: Project) -> None:
    project.write("gate.yaml", "ruels: {}\n")
    result = project.run(*SCRIPTED, "--llmeval-gate", "gate.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gate.yaml:1*ruels*rules*"])
    assert project.calls() == []
