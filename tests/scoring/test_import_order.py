"""Within each scoring core the imports of modules have no cycle, also those inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import pytest_llmeval

ROOT = Path(pytest_llmeval.__file__).parents[1]


@pytest.mark.parametrize("core", ["eed", "judge", "pddl", "sldp"])
def test_the_modules_of_a_core_import_each_other_in_one_direction(core: str) -> None:
    package = f"pytest_llmeval.scoring.{core}"
    files = {name(file): file for file in (ROOT / package.replace(".", "/")).glob("*.py")}
    imports = {
        module: {found for found in imported(file, files) if found != module}
        for module, file in files.items()
    }
    assert any(imports.values())
    TopologicalSorter(imports).prepare()  # CycleError names the modules of a cycle


def name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path, files: dict[str, Path]) -> Iterator[str]:
    """Yield the modules among `files` that a file imports anywhere, also for type checking only."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom) and node.module in files:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in files else node.module
