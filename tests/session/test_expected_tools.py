"""Calls that a sample expects of tools which the task's agent does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.session.plan_check import _check_scored
from pytest_llmeval.task.catalog import Catalog

TASK = """
name: expecting
dataset: {{path: rows.jsonl, fields: {{target: null, metadata: {{calls: calls}}}}}}
prompt: "{{{{ input }}}}"
solver: {solver}
scorer: trajectory
"""
SERVER = "{command: python, args: [s.py]}"
LISTED = "{command: python, args: [s.py], tools: [look.up]}"


def check(folder: Path, solver: str, calls: str) -> None:
    (folder / "tools.py").write_text('def add(a: int) -> int:\n    """Add."""\n    return a\n')
    (folder / "rows.jsonl").write_text(f'{{"id": "1", "input": "x", "calls": {calls}}}\n')
    file = folder / "expecting.yaml"
    file.write_text(TASK.format(solver=solver))
    loaded = Catalog(folder=folder).load(file)
    _check_scored(loaded, tuple(loaded.by_id.values()))


@pytest.mark.parametrize(
    ("solver", "calls"),
    [
        ('{agent: {tools: {"./tools.py:add": {}}}}', '["add", {"tool": "add"}]'),
        (f"{{agent: {{mcp: {{one: {LISTED}}}}}}}", '["look_up"]'),
        (f"{{agent: {{mcp: {{one: {SERVER}}}}}}}", '["whatever it lists"]'),
        ("direct", '["anything"]'),
    ],
)
def test_tools_that_are_offered_or_not_known_yet_may_be_expected(
    solver: str, calls: str, tmp_path: Path
) -> None:
    check(tmp_path, solver, calls)


@pytest.mark.parametrize(
    ("solver", "told"),
    [
        ('{agent: {tools: {"./tools.py:add": {}}}}', "(add)"),
        (
            f'{{agent: {{tools: {{"./tools.py:add": {{}}}}, mcp: {{one: {LISTED}}}}}}}',
            "(add, look_up)",
        ),
    ],
)
def test_a_tool_that_is_not_offered_is_told_with_the_sample_before_anything_is_asked(
    solver: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(LLMEvalError) as raised:
        check(tmp_path, solver, '["add_all"]')
    assert (
        f"a call of 'add_all' is expected, which is none of the solver's tools {told} (sample '1')"
    ) in str(raised.value)
