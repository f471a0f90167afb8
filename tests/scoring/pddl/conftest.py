"""The cases of tests/scoring/pddl/cases.yaml, one section for each test that uses it by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    import pytest

CASES = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text(encoding="utf-8"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, section in (
        ("goal_case", "goals"),
        ("goal_mistake", "mistakes"),
        ("goal_pair", "pairs"),
        ("goals_apart", "differences"),
    ):
        if name in metafunc.fixturenames:
            cases = CASES[section]
            ids = [
                ascii(case.get("text", f"{case.get('a')} ~ {case.get('b')}"))[1:-1] or "empty"
                for case in cases
            ]
            metafunc.parametrize(name, cases, ids=ids)
