"""The parts of a sharded run are disjoint and complete, whatever selects and reorders."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]

# Another order on each machine, as of a plugin that shuffles.
SHUFFLE = """
import os, random

def pytest_collection_modifyitems(items):
    random.Random(int(os.environ["SHUFFLE"])).shuffle(items)
"""
OWN = "def test_of_our_own(): pass\n"


def test_parts_are_disjoint_complete_and_equal_after_everything_else_selected(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("conftest.py", SHUFFLE)
    project.write("test_own.py", OWN)
    parts = []
    for part in (1, 2, 3):
        monkeypatch.setenv("SHUFFLE", str(part))
        result = project.run(
            *SCRIPTED, "--co", "-q", "-k", "not 0004", "--llmeval-shard", f"{part}/3"
        )
        parts.append([line for line in result.outlines if "::" in line])
    assert all("test_own.py::test_of_our_own" in part for part in parts)
    assert sorted(map(len, parts)) == [4, 5, 5]
    samples = sorted(line for part in parts for line in part if "test_sums" in line)
    assert samples == [f"test_sums.py::test_sums[{n:04}]" for n in range(12) if n != 4]


def test_workers_agree_on_their_part_and_ask_for_it_alone(project: Project) -> None:
    project.run(*SCRIPTED, "-n2", "--llmeval-shard", "2/4").assert_outcomes(passed=2, failed=1)
    assert project.calls() == [1, 5, 9]
    assert sorted(project.outcomes()) == ["1", "5", "9"]


def test_a_part_is_of_what_failed_last_time(project: Project) -> None:
    project.run(*SCRIPTED)
    project.calls()
    # Those were 0, 5, 7 and 10.
    project.run(*SCRIPTED, "--lf", "--llmeval-shard", "2/2").assert_outcomes(failed=2)
    assert project.calls() == [5, 10]
