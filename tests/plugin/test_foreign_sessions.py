"""A session without samples runs as without the plugin; the assertions work in it too."""

from __future__ import annotations

import pytest

QUICK = pytest.mark.usefixtures("quick_sessions")

OWN = """
import pytest
from pytest_llmeval import assert_eed_at_least, assert_sldp_equal

def test_sldp():
    assert assert_sldp_equal("<a, b>", "<b, a>").correct
    with pytest.raises(AssertionError, match="missing c"):
        assert_sldp_equal("<a, b>", "<a, c>")

def test_eed():
    assert assert_eed_at_least("2 x", "x + x").value == 100
    with pytest.raises(AssertionError, match="relabel 3 -> 2"):
        assert_eed_at_least("3 x", "2 x")

def test_plain():
    pass
"""


@QUICK
@pytest.mark.parametrize(
    "mode", [["-n0"], ["-n2"], ["-p", "no:xdist"]], ids=["-n0", "-n2", "no xdist"]
)
def test_the_assertions_serve_without_a_task(pytester: pytest.Pytester, mode: list[str]) -> None:
    pytester.makepyfile(OWN)
    result = pytester.runpytest_subprocess("-p", "pytest_llmeval.plugin", *mode)
    result.assert_outcomes(passed=3)
    assert "benchmark" not in result.stdout.str()
    assert not (pytester.path / "reports").exists()


HEAVY = """
import os, pathlib, sys

OUTSIDE = {
    "annotated_types", "asyncio", "execjs", "huggingface_hub", "jinja2", "jpype", "lark",
    "latex2sympy2_extended", "matplotlib", "msgspec", "neo4j", "numpy", "openai", "PIL", "pint",
    "plotext", "pyarrow", "pydantic", "rich", "scipy", "sqlite3", "sympy", "yaml",
}
# The folders of the package that only benchmarks need, with all that is in them.
OWN = {
    f"pytest_llmeval.{name}"
    for name in (
        "commands", "domains.heracles", "engine", "files.atomic", "files.yaml", "providers",
        "records", "report", "results", "scoring", "session.attempt", "session.main_session",
        "solvers", "task",
    )
}

def pytest_unconfigure(config):
    file = pathlib.Path(f"loaded-{os.getpid()}.txt")
    file.write_text(" ".join(sorted((OUTSIDE | OWN) & set(sys.modules))))
"""


@pytest.mark.parametrize(
    ("mode", "processes"),
    [(["-p", "no:xdist"], 1), (["-n0"], 1), (["-n2"], 3)],
    ids=["no xdist", "-n0", "-n2"],
)
def test_nothing_heavy_is_imported_for_tests_without_samples(
    pytester: pytest.Pytester, mode: list[str], processes: int
) -> None:
    pytester.makepyfile("def test_one():\n    pass\n\ndef test_two():\n    pass\n")
    pytester.makeconftest(HEAVY)
    result = pytester.runpytest_subprocess("-p", "pytest_llmeval.plugin", *mode)
    result.assert_outcomes(passed=2)
    loaded = [file.read_text() for file in pytester.path.glob("loaded-*.txt")]
    assert loaded == [""] * processes


@QUICK
def test_sample_without_the_mark_says_what_is_missing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(sample):\n    pass\n")
    result = pytester.runpytest_subprocess("-p", "pytest_llmeval.plugin")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['*mark it with @pytest.mark.llmeval("task.yaml")*'])


@QUICK
def test_llm_asks_the_configured_model_in_a_test_of_ones_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(model="def reply(request):\n    return request.messages[0].text.upper()\n")
    pytester.makepyfile(
        "def test_x(llm):\n    assert llm.generate('hello', temperature=0).text == 'HELLO'\n"
    )
    arguments = ("-p", "pytest_llmeval.plugin", "--llmeval-model", "python/./model.py:reply")
    pytester.runpytest_subprocess(*arguments).assert_outcomes(passed=1)


@QUICK
def test_llm_without_a_model_is_a_clear_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(llm):\n    llm.generate('hello')\n")
    result = pytester.runpytest_subprocess("-p", "pytest_llmeval.plugin")
    result.stdout.fnmatch_lines(["*UsageError: no model is configured: pass --llmeval-model SPEC*"])


JUDGED = """
import pytest
from pytest_llmeval import assert_judge_equivalent

def test_right():
    assert assert_judge_equivalent("x is 1/2, as beta is 2", "0.5", problem="Find x").correct

def test_plainly_equal_without_asking():
    assert assert_judge_equivalent("1/2", "0.5").details["decided_by"] == "symbolic"

def test_wrong():
    with pytest.raises(AssertionError, match="another value"):
        assert_judge_equivalent("x is alpha", "0.5")
"""

JUDGE = """
def reply(request):
    equal = "1/2" in request.messages[-1].text.split("CANDIDATE-")[2]
    return '{"answer_correct": %d, "reason": "another value"}' % equal
"""


@QUICK
@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_the_judge_serves_without_a_task(pytester: pytest.Pytester, mode: list[str]) -> None:
    pytester.makepyfile(judge=JUDGE)
    pytester.makepyfile(JUDGED)
    arguments = ("-p", "pytest_llmeval.plugin", "--llmeval-judge", "python/./judge.py:reply", *mode)
    pytester.runpytest_subprocess(*arguments).assert_outcomes(passed=3)
