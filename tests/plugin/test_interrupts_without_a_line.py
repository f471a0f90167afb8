"""A signal that comes at an instruction without a line ends the session like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

# Python raises KeyboardInterrupt wherever a signal meets it. The first instruction of a function
# whose variables another one uses belongs to no line.
LINELESS = """
import sys, types, pytest

def outer():
    held = sys._getframe()
    return (lambda: held)()

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    code = outer.__code__
    lasti = next(start for start, _, line in code.co_lines() if line is None)
    raise KeyboardInterrupt().with_traceback(types.TracebackType(None, outer(), lasti, -1))
"""


def test_an_interrupt_at_an_instruction_without_a_line_ends_with_the_table(
    project: Project,
) -> None:
    project.write("conftest.py", LINELESS)
    result = project.run("--llmeval-model", "python/./model.py:reply")
    text = result.stdout.str() + result.stderr.str()
    assert "Traceback" not in text
    assert "LLM benchmark results" in text
    assert "KeyboardInterrupt" in text
    assert result.ret == pytest.ExitCode.INTERRUPTED
