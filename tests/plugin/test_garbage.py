"""Garbage is looked for less often while a run goes on, and as before afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pytest_llmeval.plugin.garbage import SELDOM, collect_seldom

TASK = "name: echo\nprompt: '{{ input }}'\ndataset: {path: data.jsonl}\n"

TEST = """
import gc
import pytest

@pytest.mark.llmeval("task.yaml")
def test_echo(sample, completion):
    assert gc.get_threshold()[0] == SELDOM

def test_plain():
    assert gc.get_threshold()[0] == SELDOM
"""

CONFTEST = """
import atexit, gc

def shown(label):
    with open("thresholds.txt", "a") as file:
        file.write(f"{label} {gc.get_threshold()[0]}\\n")

shown("before")
atexit.register(shown, "after")
"""


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_the_default_is_raised_and_set_back() -> None:
    gc.set_threshold(700, 10, 10)
    set_back = collect_seldom()
    assert gc.get_threshold() == (SELDOM, 10, 10)
    set_back()
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [0, SELDOM, 50_000])
def test_a_threshold_that_is_higher_or_disabled_stays(chosen: int) -> None:
    gc.set_threshold(chosen, 10, 10)
    set_back = collect_seldom()
    assert gc.get_threshold() == (chosen, 10, 10)
    gc.set_threshold(900, 10, 10)
    set_back()
    assert gc.get_threshold() == (900, 10, 10)


def test_what_tests_set_meanwhile_stays() -> None:
    gc.set_threshold(700, 10, 10)
    set_back = collect_seldom()
    gc.set_threshold(5, 5, 5)
    set_back()
    assert gc.get_threshold() == (5, 5, 5)


def test_a_session_with_samples_sets_it_back_at_its_end(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", task=TASK)
    pytester.makefile(".jsonl", data='{"id": "1", "input": "hello", "target": "hello"}')
    pytester.makepyfile(TEST.replace("SELDOM", str(SELDOM)))
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(model="def reply(request): return 'hello'")
    done = pytester.runpytest_subprocess("--llmeval-model", "python/./model.py:reply", "-q")
    done.assert_outcomes(passed=2)
    before, after = (pytester.path / "thresholds.txt").read_text().splitlines()
    assert before.split()[1] == after.split()[1]


THRICE = """
import gc, pytest, weakref

class Noted:
    configs = []
    def pytest_configure(self, config):
        self.configs.append(weakref.ref(config))

counts = [gc.get_freeze_count()]
for _ in range(3):
    assert pytest.main(["-q", "-p", "pytest_llmeval.plugin", *OPTIONS], plugins=[Noted()]) == 0
    counts.append(gc.get_freeze_count())
print("counts", *counts)
print("left", sum(one() is not None for one in Noted.configs))
"""

COUNTED = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
def test_echo(sample, completion):
    assert completion.answer
"""


def counts(pytester: pytest.Pytester, test: str, *options: str) -> tuple[list[int], int]:
    """Run three sessions in a process.

    Returns:
        How many objects were set aside before and after each, and how many sessions are in memory.
    """
    pytester.makefile(".yaml", task=TASK)
    pytester.makefile(".jsonl", data='{"id": "1", "input": "hello", "target": "hello"}')
    pytester.makepyfile(test, model="def reply(request): return 'hello'")
    script = pytester.makepyfile(thrice=THRICE.replace("OPTIONS", repr([*options])))
    lines = [one.split() for one in pytester.runpython(script).outlines]
    (found,) = [line[1:] for line in lines if line[:1] == ["counts"]]
    (left,) = [line[1] for line in lines if line[:1] == ["left"]]
    return [int(count) for count in found], int(left)


def test_what_is_alive_at_the_plan_is_set_aside_and_earlier_sessions_are_not_kept(
    pytester: pytest.Pytester,
) -> None:
    found, left = counts(pytester, COUNTED, "--llmeval-model", "python/./model.py:reply")
    assert found[0] == 0
    assert min(found[1:]) > 50_000
    assert found[3] < found[2] * 1.05
    assert left < 3


def test_a_session_without_samples_sets_nothing_aside(pytester: pytest.Pytester) -> None:
    assert counts(pytester, "def test_plain(): pass")[0] == [0, 0, 0, 0]


def test_garbage_from_before_the_plan_still_warns(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", task=TASK)
    pytester.makefile(".jsonl", data='{"id": "1", "input": "hello", "target": "hello"}')
    pytester.makeconftest(
        "class Ring: pass\nring = Ring()\nring.itself, ring.file = ring, open(__file__)\ndel ring\n"
    )
    pytester.makepyfile(COUNTED, model="def reply(request): return 'hello'")
    done = pytester.runpytest_subprocess("-Wdefault", "--llmeval-model", "python/./model.py:reply")
    done.assert_outcomes(passed=1)
    done.stderr.fnmatch_lines(["*ResourceWarning: unclosed file*conftest.py*"])
