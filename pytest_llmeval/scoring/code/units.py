"""Tests divided into units, of which one that fails does not end the others.

A unit is a statement with an ``assert`` in it, in the body of ``check`` or of the text itself; an
``assert`` of a constant alone tests nothing and is none. What
stands between units prepares them; if it fails, nothing after it runs.
"""

from __future__ import annotations

import ast
from typing import Final

CHECK: Final = "check"
"""The function that takes the program's function, where tests have one."""

RUNNER: Final = "__llmeval_unit__"
"""Name under which the tests find the context manager of a unit, which takes its text."""


def divided(source: str, file: str) -> tuple[ast.Module, int]:
    """Return tests whose units each run within ``with RUNNER(text):``, and their number.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: they are no Python, or too deep.
    """
    tree = ast.parse(source, file)
    count = 0
    for part in [tree, *(one for one in tree.body if is_check(one))]:
        assert isinstance(part, ast.Module | ast.FunctionDef)  # noqa: S101 - what was asked for
        part.body = [_unit(one, source) if _is_unit(one) else one for one in part.body]
        count += sum(isinstance(one, ast.With) and _runs(one) for one in part.body)
    return ast.fix_missing_locations(tree), count


def modules_used(tree: ast.Module) -> set[str]:
    """Return the names that are used as ``name.attribute``."""
    uses = (one.value for one in ast.walk(tree) if isinstance(one, ast.Attribute))
    return {one.id for one in uses if isinstance(one, ast.Name)}


def is_check(statement: ast.stmt) -> bool:
    """Return whether a statement defines ``check``."""
    return isinstance(statement, ast.FunctionDef) and statement.name == CHECK


def _is_unit(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant):
        return False  # HumanEval's ``assert True``
    return any(isinstance(one, ast.Assert) for one in ast.walk(statement))


def _unit(statement: ast.stmt, source: str) -> ast.With:
    text = ast.Constant(ast.get_source_segment(source, statement) or "")
    run = ast.Call(ast.Name(RUNNER, ast.Load()), [text], [])
    return ast.copy_location(ast.With([ast.withitem(run)], [statement]), statement)


def _runs(statement: ast.With) -> bool:
    call = statement.items[0].context_expr
    return isinstance(call, ast.Call) and getattr(call.func, "id", None) == RUNNER
