"""Tests of a task as methods of classes, and as coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ("-p", "anyio.pytest_plugin", "--llmeval-model", "python/./model.py:reply")

CLASSES = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
class TestMarked:
    @pytest.fixture
    def again(self, completion):
        return completion

    def test_one(self, sample, completion, again):
        assert again is completion
        assert_correct(sample, completion)

class TestMethods:
    @pytest.mark.llmeval("task.yaml")
    def test_two(self, sample, completion):
        assert_correct(sample, completion)

    def test_other(self):
        pass
"""

# One event loop for all tests, begun in the first one.
COROUTINES = """
import asyncio
import pytest
from pytest_llmeval import assert_correct

@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"

@pytest.fixture(scope="module")
async def shared():
    yield asyncio.get_running_loop()

@pytest.mark.anyio
@pytest.mark.llmeval("task.yaml")
class TestCoroutines:
    async def test_one(self, sample, completion, shared):
        await asyncio.sleep(0)
        await asyncio.to_thread(assert_correct, sample, completion)

@pytest.mark.anyio
@pytest.mark.llmeval("task.yaml")
async def test_two(sample, completion, shared):
    await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))
    assert_correct(sample, completion)
"""


# The plugin runs them itself, with no other installed.
OUR_OWN = """
import asyncio
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
class TestCoroutines:
    def setup_method(self):
        self.ready = True

    async def test_one(self, sample, completion):
        await asyncio.to_thread(assert_correct, sample, completion)
        assert self.ready

@pytest.mark.llmeval("task.yaml")
async def test_two(sample, completion):
    await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0))
    assert_correct(sample, completion)
"""


@pytest.mark.parametrize(
    "tests", [CLASSES, COROUTINES, OUR_OWN], ids=["classes", "coroutines", "our own"]
)
@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_methods_and_coroutines_are_scored_like_functions(
    project: Project, tests: str, mode: list[str]
) -> None:
    project.write("test_sums.py", tests)
    project.run(*SCRIPTED, *mode)
    found = {(row["test"].rpartition("::")[2], row["sample"]): row for row in project.rows()}
    outcomes = {key: row["outcome"] for key, row in found.items()}
    expected = {
        str(n): "error" if n == 7 else "incorrect" if n % 5 == 0 else "correct" for n in range(12)
    }
    for name in ("test_one", "test_two"):
        assert {n: outcomes[name, n] for n in expected} == expected
    assert all(len(row["scores"]) == (key[1] != "7") for key, row in found.items())


def test_a_plugin_of_ones_own_may_run_coroutines(project: Project) -> None:
    project.write(
        "conftest.py",
        "import asyncio, inspect\n\n"
        "def pytest_pyfunc_call(pyfuncitem):\n"
        "    if inspect.iscoroutinefunction(pyfuncitem.obj):\n"
        "        names = pyfuncitem._fixtureinfo.argnames\n"
        "        asyncio.run(pyfuncitem.obj(**{n: pyfuncitem.funcargs[n] for n in names}))\n"
        "        return True\n",
    )
    project.write(
        "test_sums.py",
        "import pytest\nfrom pytest_llmeval import assert_correct\n\n"
        '@pytest.mark.llmeval("task.yaml")\n'
        "async def test_sums(sample, completion):\n"
        "    assert_correct(sample, completion)\n",
    )
    project.run(*SCRIPTED, "--llmeval-limit", "3").assert_outcomes(passed=2, failed=1)
