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
    "workers with ids of the user's": [
        "--dist",
        "load",
        "--tx",
        "popen//id=one",
        "--tx",
        "popen//id=two",
    ],
}
SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]


@pytest.fixture
def quick_sessions() -> None:
    """Start Python itself: the modes are those of users, from the first import on."""


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
def test_every_mode_gives_the_same_outcomes_and_asks_each_question_once(
    project: Project, mode: list[str]
) -> None:
    result = project.run(*SCRIPTED, *mode)
    result.assert_outcomes(passed=8, failed=3, errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    wrong = {"0", "5", "10"}
    expected = {
        str(n): "incorrect" if str(n) in wrong else "error" if n == 7 else "correct"
        for n in range(12)
    }
    assert project.outcomes() == expected
    assert project.calls() == list(range(12))


def test_rows_are_alike_in_all_but_times_worker_and_order(project: Project) -> None:
    def rows(*mode: str) -> list[dict[str, object]]:
        project.run(*SCRIPTED, *mode)
        return [
            {k: v for k, v in row.items() if k not in {"seconds", "worker"}}
            for row in project.rows()
        ]

    serial = rows("-p", "no:xdist")
    assert len(serial) == 12
    assert rows("-n0") == serial
    assert rows("-n2") == serial
