"""The same rows, however pytest is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

MODES = {
    "without xdist": ["-p", "no:xdist"],
    "with xdist idle": [],
    "-n0": ["-n0"],
    "-n2": ["-n2"],
    "-n2 worksteal": ["-n2", "--dist", "worksteal"],
    "-n2 loadfile": ["-n2", "--dist", "loadfile"],
    "-n2 loadscope": ["-n2", "--dist", "loadscope"],
    "-n2 loadgroup": ["-n2", "--dist", "loadgroup"],
    "workers with ids of the user's": ["--dist", "load", "--tx", "popen//id=one", "--tx", "popen//id=two"],
}
SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
def test_every_mode_gives_the_same_outcomes_and_asks_each_question_once(project: Project, mode: list[str]) -> None:
    result = project.run(*SCRIPTED, *mode)
    result.assert_outcomes(passed=8, failed=3, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    wrong = {"0", "5", "10"}
    expected = {str(n): "incorrect" if str(n) in wrong else "error" if n == 7 else "correct" for n in range(12)}
    assert project.outcomes() == expected
    assert project.calls() == list(range(12))


def test_rows_are_alike_in_all_but_times_worker_and_order(project: Project) -> None:
    def rows(*mode: str) -> list[dict[str, object]]:
        project.run(*SCRIPTED, *mode)
        return [{k: v for k, v in row.items() if k not in {"seconds", "worker"}} for row in project.rows()]

    serial = rows("-p", "no:xdist")
    assert len(serial) == 12
    assert rows("-n0") == serial
    assert rows("-n2") == serial


def test_dist_each_is_refused_before_anything_is_asked(project: Project) -> None:
    result = project.run(*SCRIPTED, "-n2", "--dist", "each")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--dist each would pay for every sample once per worker*"])
    assert project.calls() == []


def test_a_worker_that_dies_costs_its_test_in_flight_alone(project: Project) -> None:
    project.write(
        "test_sums.py",
        (project.path / "test_sums.py").read_text()
        + "\ndef test_crash(sample, completion):\n    import os\n    if sample.id == '3':\n        os._exit(1)\n",
    )
    project.run(*SCRIPTED, "-n2", "-k", "test_crash")
    outcomes = project.outcomes()
    assert len(outcomes) == 12
    assert outcomes.pop("3") == "error"
    assert outcomes.pop("7") == "error"
    assert set(outcomes.values()) == {"correct"}
    assert project.calls() == list(range(12))
