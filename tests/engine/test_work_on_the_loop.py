"""What runs on the engine's event loop has no way to SLDP, PDDL, EED or sympy."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest_llmeval

PACKAGE = Path(pytest_llmeval.__file__).parent
ON_THE_LOOP = ("engine", "solvers", "providers", "domains", "scoring/judge")
OF_A_COMMAND = "domains/heracles/questions/"
"""Runs in a loop of its own, with nothing beside it."""

COSTLY = (
    "pytest_llmeval.scoring.sldp",
    "pytest_llmeval.scoring.pddl",
    "pytest_llmeval.scoring.eed",
    "sympy",
    "lark",
)


def imported(file: Path) -> set[str]:
    """Return the modules that a file imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_no_module_on_the_loop_imports_what_takes_long() -> None:
    files = [file for folder in ON_THE_LOOP for file in (PACKAGE / folder).rglob("*.py")]
    users = {
        file.relative_to(PACKAGE).as_posix()
        for file in files
        if any(module.startswith(COSTLY) for module in imported(file))
    }
    assert len(files) > 50
    assert {user for user in users if not user.startswith(OF_A_COMMAND)} == set()
