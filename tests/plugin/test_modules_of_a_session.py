"""What a session over samples imports, and when: a list that must not grow unseen."""

from __future__ import annotations

import json
import sys

import pytest

TASK = """
name: sums
dataset: {path: data.jsonl, fields: {id: id, input: question, target: answer}}
prompt: "{{ input }}"
answer: whole
scorer: exact
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("task.yaml")
def test_x(sample, completion):
    assert_correct(sample, completion)
"""

WATCH = """
import json, pathlib, sys

def note(when):
    pathlib.Path(f"{when}.json").write_text(json.dumps(sorted(sys.modules)))

def pytest_configure(config):
    note("before")

def pytest_runtest_logstart():
    note("first test")

def pytest_unconfigure():
    note("end")
"""

OUTSIDE = {
    "annotated_types",
    "jinja2",
    "markupsafe",
    "msgspec",
    "pydantic",
    "pydantic_core",
    "rich",
    "typing_extensions",
    "typing_inspection",
    "yaml",
}
"""Packages of others that a task, a plan and an engine need."""

OF_THE_END = {"conclusion", "cut_off", "findings", "printout", "step_summary", "yardstick"}
"""Modules of `session/` that the end of a run and gates need."""

SHOWN_BEFORE_THE_END = {
    "report.clean",
    "report.last_line",
    "report.numbers",
    "report.progress_line",
    "report.progress_style",
}


def session(pytester: pytest.Pytester, *options: str) -> None:
    """Run one sample in a session in a new Python process, without third-party plugins."""
    pytester.makefile(".jsonl", data=json.dumps({"id": 1, "question": "1 + 1?", "answer": "2"}))
    pytester.makefile(".yaml", task=TASK)
    pytester.makepyfile(TEST, model="def reply(request):\n    return '2'\n")
    pytester.makeconftest(WATCH)
    model = ("--llmeval-model", "python/./model.py:reply")
    arguments = ("-p", "pytest_llmeval.plugin", *model, *options)
    pytester.runpytest_subprocess(*arguments).assert_outcomes(passed=1)


def modules(pytester: pytest.Pytester, when: str) -> set[str]:
    """Return the modules that were imported by then."""
    return set(json.loads((pytester.path / f"{when}.json").read_text()))


def outside(found: set[str]) -> set[str]:
    """Return the packages of others among modules, without those that pytest needs."""
    pytests = {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"}
    ours = {"pytest_llmeval", "__main__", "conftest", "test_modules_of_a_session", "model"}
    of_site = {"sitecustomize", "usercustomize"}  # imported by Python itself where there is one
    roots = {name.partition(".")[0] for name in found}
    known = pytests | ours | of_site | set(sys.stdlib_module_names)
    made = ("_", "test_", "llmeval_", "cython_runtime")
    return {root for root in roots - known if not root.startswith(made)}


def own(found: set[str], package: str) -> set[str]:
    """Return the modules of one of our packages, without ``pytest_llmeval.``."""
    prefix = f"pytest_llmeval.{package}."
    return {name.removeprefix("pytest_llmeval.") for name in found if name.startswith(prefix)}


@pytest.fixture(autouse=True)
def no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_PLUGINS", raising=False)


def test_until_the_first_test_nothing_of_the_end_is_imported(pytester: pytest.Pytester) -> None:
    session(pytester)
    found = modules(pytester, "first test")
    assert outside(found) == OUTSIDE
    assert own(found, "report") == SHOWN_BEFORE_THE_END
    assert own(found, "session") & {f"session.{name}" for name in OF_THE_END} == set()
    assert own(found, "commands") | own(found, "view") | own(found, "domains") == set()


def test_a_run_without_files_imports_no_library_that_it_does_not_use(
    pytester: pytest.Pytester,
) -> None:
    session(pytester)
    found = modules(pytester, "end")
    assert outside(found) == OUTSIDE
    assert own(found, "session") > {"session.conclusion", "session.printout"}
    assert "pytest_llmeval.session.yardstick" not in found


def test_a_gate_is_read_at_the_start(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", gate="rules: {sums.accuracy: {min: 0}}")
    session(pytester, "--llmeval-gate", "gate.yaml")
    assert "pytest_llmeval.session.yardstick" in modules(pytester, "first test")
