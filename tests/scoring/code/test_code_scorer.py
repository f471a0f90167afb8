"""The scorer `code`: programs and their tests in three forms, really run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sandboxes import require
from scoring.code.programs import Surroundings, sample_of, score, scored, scorer_for

from pytest_llmeval.errors import LLMEvalError, ScorerError, ToolError, UsageError
from pytest_llmeval.safety.printable import printable
from pytest_llmeval.sandbox import run
from pytest_llmeval.sandbox.choice import present_isolations
from pytest_llmeval.scoring.code.scorer import LONGEST, CodeScorer
from pytest_llmeval.scoring.scorer import (
    AskingScorer,
    PreparingScorer,
    RunCheckingScorer,
    SampleCheckingScorer,
)
from pytest_llmeval.task.registry import SCORERS

HEAD = """
from typing import List


def double(x: int) -> int:
    return 2 * x


def quadruple(xs: List[int]) -> List[int]:
    \"\"\"Return four times each.\"\"\"
"""
CHECK = """
METADATA = {"author": "somebody"}


def check(candidate):
    import math

    assert candidate([1, 2]) == [4, 8], "simple"
    expected = [double(double(x)) for x in range(9)]
    assert candidate(list(range(9))) == expected
    for x in (3, 5):
        assert math.isclose(candidate([x])[0], 4 * x)
"""
HUMANEVAL: dict[str, Any] = {"tests": CHECK, "entry": "quadruple", "head": HEAD}

RIGHT = [
    "    return [double(double(x)) for x in xs]\n",
    "def quadruple(xs: List[int]) -> List[int]:\n    return [4 * x for x in xs]\n",
    "import numpy\n\n\ndef quadruple(xs):\n    return [4 * x for x in numpy.array(xs)]",
    "quadruple = lambda xs: [*map((4).__mul__, xs)]",
    "class quadruple(list):\n    def __init__(self, xs):\n        self.extend(4 * x for x in xs)\n",
    "def double(x): return -1\ndef quadruple(xs): return [4 * x for x in xs]",
]
PARTLY = [
    ("    return [4, 8]\n", 1, "assert candidate(list(range(9))) == expected: AssertionError"),
    ("    return [4 * x for x in xs if x < 9] if len(xs) > 1 else []", 2, "for x in (3, 5):"),
    ("    return [4 * x for x in xs] if len(xs) > 2 else 1 / 0", 1, "ZeroDivisionError: division"),
]


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    require(next(iter(present_isolations()), "landlock"))


@pytest.mark.parametrize("program", RIGHT)
def test_a_program_that_completes_a_head_passes_whatever_its_form(program: str) -> None:
    found = score(program, **HUMANEVAL)
    assert (found.correct, found.value, found.explanation) == (True, 1.0, "3 of 3 tests passed")


@pytest.mark.parametrize(("program", "passed", "first"), PARTLY)
def test_the_value_is_the_share_that_passes_and_the_first_failure_is_told(
    program: str, passed: int, first: str
) -> None:
    found = score(program, **HUMANEVAL)
    assert (found.correct, found.value) == (False, passed / 3)
    assert found.explanation.startswith(f"{passed} of 3 tests passed; ")
    assert first in found.explanation
    assert (found.details["tests"], found.details["passed"]) == (3, passed)


def test_what_a_wrong_program_gave_is_told_and_where_one_failed() -> None:
    found = score("def f(x):\n    return x + 1", tests=["assert f(3) == 5"])
    assert found.explanation.endswith("AssertionError; the last value that the program gave: 4")
    found = score("def f(x):\n    y = x[0]\n    return y", tests=["assert f(3) == 5"])
    assert found.details["why"] == "TypeError: 'int' object is not subscriptable"
    stderr = str(found.details["stderr"])
    assert 'File "program.py", line 2, in f\n    y = x[0]' in stderr
    assert "pytest_llmeval" not in stderr


def test_lists_of_assertions_are_tests_each() -> None:
    tests = [
        "assert similar((3, 4, 5), (4, 5, 6)) == {4, 5}",
        "assert set(similar((1,), (2,))) == set()",
        "assert math.isclose(len(similar((1, 2), (2, 1))), 2)",
        "assert near(1.0, len(similar((1,), (1,))))",
    ]
    setup = ["import random", "def near(a, b): return abs(a - b) < 1e-9"]
    program = "def similar(a, b):\n    return set(a) & set(b)\n\ndef near(a, b): raise OSError"
    assert score(program, tests=tests, setup=setup).correct
    found = score("def similar(a, b): return {4, 5}", tests=tests, setup=setup)
    assert (found.correct, found.value) == (False, 0.5)


def test_a_builtin_is_the_programs_only_where_the_reference_solution_defines_it() -> None:
    tests, solution = "assert sum(10, 15) == 6", "def sum(a, b):\n    return 6"
    assert score("def sum(a, b): return 6", tests=tests, target=solution).correct
    assert not score("def add(a, b): return 6", tests=tests, target=solution).correct
    cheat = "def f(x): return 0\ndef sum(x): return 0"
    assert not score(cheat, tests="assert sum([f(1)]) - 7 == 0", target="def f(x): pass").correct


def test_classes_of_the_program_can_be_used() -> None:
    program = """
from dataclasses import dataclass

@dataclass
class Node:
    value: int
    left: "Node | None" = None
    right: "Node | None" = None

    def __iter__(self):
        for side in (self.left, self.right):
            if side: yield from side
        yield self.value

    def __len__(self): return 1 + sum(len(s) for s in (self.left, self.right) if s)
    def __getitem__(self, n): return [*self][n]

def height(node): return 0 if node is None else 1 + max(height(node.left), height(node.right))
"""
    tests = [
        "assert height(root) == 2",
        "assert list(root) == [2, 1] and len(root) == 2 and root[0] == 2",
        "root.right = Node(3)\nassert sorted(root) == [1, 2, 3]",
        "assert Node(1) == Node(value=1) and Node(1) != Node(2) and Node(1) != 1",
        "assert height(None) == 0 and root.left.value == 2 and bool(root)",
        "assert str(Node(1)).startswith('Node(value=1')",
    ]
    found = score(program, tests=tests, setup="root = Node(1)\nroot.left = Node(2)")
    assert found.correct, found.explanation


def test_what_check_is_given_may_be_a_method() -> None:
    program = "class Solution:\n    def twice(self, x): return 2 * x"
    test = "def check(candidate):\n    assert candidate(3) == 6"
    assert score(program, tests=test, entry="Solution().twice").correct


@pytest.mark.parametrize("error", ["ValueError", "KeyError", "UnicodeDecodeError", "Own"])
def test_exceptions_cross_as_the_built_in_ones_that_they_are(error: str) -> None:
    program = f"""
class Own(ValueError): pass
def fail(x):
    if x: raise {error}('u8', b'', 0, 1, 'x') if {error} is UnicodeDecodeError else {error}('why')
"""
    kind = "KeyError" if error == "KeyError" else "ValueError"
    test = f"try:\n    fail(1)\nexcept {kind} as e:\n    pass\nelse:\n    assert False"
    assert score(program, tests=test).correct
    assert not score("def fail(x): pass", tests=test).correct


CASES = [{"input": "3\n1 2 3\n", "output": "6\n"}, {"input": "1\n-4\n", "output": "-4"}]
SCRIPTS = [
    ("n = input()\nprint(sum(map(int, input().split())))", 1.0),
    ("import sys\nprint(sum(map(int, sys.stdin.read().split()[1:])), end='')", 1.0),
    ("if __name__ == '__main__':\n    print(sum(map(int, open(0).read().split()[1:])), ' ')", 1.0),
    ("import os\nprint(sum(map(int, os.read(0, 99).split()[1:])))\nprint()", 1.0),
    ("print(6)", 0.5),
    ("print(6); raise SystemExit(1)", 0.0),
    ("print('6 ' if len(input()) else 6); print(7)", 0.0),
    ("while True: pass", 0.0),
    ("def solve(): pass", 0.0),
]


@pytest.mark.parametrize(("program", "value"), SCRIPTS)
def test_scripts_read_each_input_and_write_its_output(program: str, value: float) -> None:
    found = score(program, tests=CASES)
    assert (found.value, found.correct) == (value, value == 1)


def test_cases_may_be_two_lists() -> None:
    lists = {f"{key}s": [case[key] for case in CASES] for key in ("input", "output")}
    assert score("print(6)", tests=lists).value == 0.5


@pytest.mark.parametrize(
    "program",
    [
        "import os; os._exit(0)",
        "import os; os.close(1); print(6)",
        "print('6\\n-4')",
        "while True: print('6')",
        "import os\nwhile True: print(os.read(os.dup(2), 99))",
        "import sys; sys.modules['json'] = None; sys.exit(0)",
    ],
)
def test_scripts_that_do_not_compute_pass_no_case(program: str) -> None:
    assert score(program, tests=CASES).value == 0


def test_hostile_texts_of_a_program_are_printable_and_cut() -> None:
    steer = "\x1b]0;title\x07\x1b[2J\u202e\ud800\x00" + "y" * 3_000
    program = f"import sys\nprint({steer!r}.encode('utf8', 'replace'), file=sys.stderr)\n"
    program += f"sys.stderr.buffer.write(b'\\x1b[2J\\xff')\ndef f(x): raise ValueError({steer!r})"
    found = score(program, tests="assert f(1)")
    told = [found.explanation, *map(str, found.details.values())]
    for text in told:
        assert text == printable(text)
        assert len(text) < 2_500


def test_a_script_that_is_wrong_is_told_with_input_and_both_outputs() -> None:
    found = score("print(input())", tests=CASES)
    assert found.details["failed"] == r"input '3\n1 2 3\n'"
    assert found.details["why"] == r"it wrote '3\n' in place of '6\n'"


def test_an_empty_answer_and_none_are_incorrect_and_nothing_runs() -> None:
    scorer = CodeScorer(tests="tests")
    sample = sample_of(tests="assert f(1) == 1")
    for program in ("", " \n"):
        found = asyncio.run(scored(scorer, program, sample, Surroundings()))
        assert (found.correct, found.value) == (False, 0.0)
    assert scorer.score(None, sample, None).correct is False


def test_a_program_that_is_too_long_is_incorrect() -> None:
    found = score("#" * (LONGEST + 1), tests="assert f(1) == 1")
    assert (found.correct, found.value) == (False, 0.0)


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        (["assert 1 == 1"], "ask nothing of the program"),
        (["assert True"], "ask nothing of the program"),
        (["class T:\n    def test(self):\n        assert f(1)"], "ask nothing of the program"),
        (["import no_such_module_here", "assert f(1)"], "no_such_module_here"),
        (["assert f(lambda x: x)"], "an argument of type function cannot be given"),
    ],
)
def test_tests_that_cannot_tell_are_an_error_and_not_the_programs(
    tests: list[str], why: str
) -> None:
    with pytest.raises(ScorerError, match=why):
        score("def f(x): return x", tests=tests)


def test_a_check_that_never_calls_its_candidate_is_an_error_too() -> None:
    test = "def check(candidate):\n    assert True\n    assert callable(candidate)"
    with pytest.raises(ScorerError, match="ask nothing of the program"):
        score("class S:\n    def f(self): pass", tests=test, entry="S().f")


def test_an_import_that_the_program_lacks_is_its_own_failure() -> None:
    found = score("def f(x):\n    import no_such_module_here", tests=["x = f(1)", "assert x"])
    assert found.correct is False
    assert "ModuleNotFoundError" in found.explanation


def test_a_sandbox_that_does_not_work_is_an_error_and_not_the_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scorer, sample = CodeScorer(tests="tests"), sample_of(tests="assert f(1) == 1")
    around = Surroundings("landlock")
    asyncio.run(scorer.check_run(around))
    monkeypatch.setattr(run, "python", lambda: "/nowhere/python")
    with pytest.raises(LLMEvalError):
        asyncio.run(scored(scorer, "def f(x): return x", sample, around))
    with pytest.raises(ToolError):
        asyncio.run(run.run_program("", isolation="limits"))


def test_a_process_of_the_tests_that_does_not_start_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = "pytest_llmeval.scoring.code.scorer._TESTS_PROCESS"
    monkeypatch.setattr(module, "pytest_llmeval.scoring.code.no_such_module")
    with pytest.raises(ScorerError, match="could not be started"):
        score("def f(x): return x", tests="assert f(1) == 1")


def test_without_isolation_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_llmeval.sandbox.choice.present_isolations", tuple)
    around = Surroundings()
    around._isolation = None
    with pytest.raises(UsageError, match="apt-get install bubblewrap"):
        asyncio.run(CodeScorer(tests="tests").check_run(around))


BAD_SAMPLES: list[tuple[dict[str, Any], str]] = [
    ({}, "`tests` names metadata 'tests', which the sample lacks"),
    ({"tests": []}, "holds no tests"),
    ({"tests": 3}, "holds no tests"),
    ({"tests": [{"input": "1"}]}, "holds no tests"),
    ({"tests": {"inputs": ["1"], "outputs": []}}, "holds no tests"),
    ({"tests": [{"input": "1", "output": " \n"}]}, "every program that writes nothing would pass"),
    ({"tests": "assert ("}, "the tests: no Python: "),
    ({"tests": "(" * 5000}, "the tests: no Python: "),
    ({"tests": "def check(candidate): pass"}, "`entry` names no metadata for the candidate"),
    ({"tests": "assert f(1)", "entry": "f"}, r"define no function check\(candidate\)"),
    ({"tests": "def check(c): pass", "entry": "f("}, "the entry: no Python"),
    ({"tests": "def check(c): pass", "entry": ""}, "not a text"),
    ({"tests": "assert f(1)", "setup": 3}, "the `setup`, is 3, not a text"),
    ({"tests": "assert f(1)", "setup": "def"}, "the setup: no Python"),
]


@pytest.mark.parametrize(("metadata", "problem"), BAD_SAMPLES)
def test_a_sample_that_cannot_be_scored_is_refused_beforehand(
    metadata: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        scorer_for(metadata).check_sample(sample_of(**metadata))


@pytest.mark.parametrize("option", ["timeout", "memory"])
def test_limits_above_nothing_are_demanded(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} is 0; a limit is a number above 0"):
        SCORERS.load("code", Path())(tests="tests", **{option: 0})


def test_it_is_registered_and_fits_its_ports_and_asks_no_model() -> None:
    scorer: object = SCORERS.load("code", Path())(tests="tests")
    ports: list[Any] = [PreparingScorer, SampleCheckingScorer, RunCheckingScorer, AskingScorer]
    assert [isinstance(scorer, port) for port in ports] == [True, True, True, False]
