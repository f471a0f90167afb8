"""Tests divided into units decide as they do undivided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.scoring.code.units import RUNNER, divided, modules_used

STATEMENTS = st.sampled_from(
    [
        "assert f(1) == 2",
        "assert f(2) == 4, 'message'",
        "x = f(3)",
        "assert x == 6",
        "for n in range(3):\n    assert f(n) == 2 * n",
        "if f(1) > 2:\n    assert False",
        "try:\n    f('a', 'b')\n    assert False\nexcept TypeError:\n    pass",
        "def helper(n):\n    assert f(n) == 2 * n",
        "helper(4)",
        "import math",
        "assert math.sqrt(f(2)) == 2",
        "with open('/dev/null') as file:\n    assert not file.read()",
        "return",
        "y: int = 3",
        "global z\nz = 1",
    ]
)
FUNCTIONS = st.sampled_from(
    ["lambda n: 2 * n", "lambda n: 2", "lambda n: n if n > 2 else 2 * n", "lambda n: 1 / (n - 3)"]
)


def passes(code: Any, function: str) -> bool:
    """Whether tests run to their end, without units."""
    names: dict[str, Any] = {"f": eval(function)}  # noqa: S307 - as above
    try:
        exec(code, names)  # noqa: S102 - statements of this file
        names["check"](names["f"])
    except Exception:  # noqa: BLE001 - whatever tests raise
        return False
    return True


def passes_divided(source: str, function: str) -> tuple[bool, int, int]:
    """Whether they do with units; how many there are, and how many failed."""
    failed = 0

    @contextmanager
    def unit(text: str) -> Iterator[None]:
        nonlocal failed
        assert "assert" in text
        try:
            yield
        except Exception:  # noqa: BLE001 - as above
            failed += 1

    tree, count = divided(source, "tests")
    names: dict[str, Any] = {"f": eval(function), RUNNER: unit}  # noqa: S307 - as above
    ended = True
    try:
        exec(compile(tree, "tests", "exec"), names)  # noqa: S102 - as above
        names["check"](names["f"])
    except Exception:  # noqa: BLE001 - as above
        ended = False
    return ended and not failed, count, failed


@given(st.lists(STATEMENTS, min_size=1, max_size=8), FUNCTIONS)
def test_tests_in_units_pass_exactly_if_they_pass_at_all(
    statements: list[str], function: str
) -> None:
    body = "\n".join(f"    {line}" for one in statements for line in one.split("\n"))
    source = f"z = 0\ndef check(candidate):\n    f = candidate\n{body}\n"
    try:
        plain = compile(source, "tests", "exec")
    except SyntaxError:
        return
    passed, count, failed = passes_divided(source, function)
    assert passed is passes(plain, function)
    defined = [one for one in statements if "assert" in one and not one.startswith("def")]
    assert count == len(defined)
    assert failed <= count


def test_units_stand_in_the_text_itself_and_in_check() -> None:
    source = "assert a\ndef check(f):\n    assert b\n    c = 1\ndef other():\n    assert d\n"
    assert divided(source, "tests")[1] == 2


def test_names_with_attributes_are_found() -> None:
    tree, _ = divided("assert math.sqrt(x).real == a.b.c", "tests")
    assert modules_used(tree) == {"math", "a"}
