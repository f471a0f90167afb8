"""Plans that differ in anything have different digests, and a plan crosses a process as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_llmeval.engine.plan import Plan, PlannedTest

TEST = PlannedTest("a.py::t[1]", "a.py::t", "/a.yaml", "a", "1", "openai/m", 1)
PLAN = Plan(
    tests=(TEST, TEST._replace(nodeid="a.py::t[2]", sample="2")),
    tasks=(("/a.yaml", "a", "digest"),),
)


@pytest.mark.parametrize("field", PlannedTest._fields)
def test_every_field_of_a_test_counts(field: str) -> None:
    changed: dict[str, Any] = {field: 2 if field == "epoch" else "other"}
    other = TEST._replace(**changed)
    assert Plan(tests=(other, *PLAN.tests[1:]), tasks=PLAN.tasks).digest != PLAN.digest


def test_order_and_data_count() -> None:
    assert Plan(tests=PLAN.tests[::-1], tasks=PLAN.tasks).digest != PLAN.digest
    assert Plan(tests=PLAN.tests, tasks=(("/a.yaml", "a", "changed"),)).digest != PLAN.digest


@pytest.mark.parametrize("name", ["plain", "é\u2028", "\ud800"])
def test_a_plan_crosses_as_json_and_keeps_its_digest(name: str) -> None:
    plan = Plan(tests=(TEST._replace(sample=name),), tasks=PLAN.tasks)
    crossed = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    assert crossed == plan
    assert crossed.digest == plan.digest


def test_the_index_finds_every_test() -> None:
    assert [PLAN.index[test.nodeid] for test in PLAN.tests] == [0, 1]


def test_a_test_without_a_model_is_known_as_recorded() -> None:
    assert TEST.key.model == "openai/m"
    assert TEST._replace(model="").key.model == "recorded"


def test_a_hundred_thousand_tests_cross() -> None:
    tests = tuple(TEST._replace(nodeid=f"a.py::t[{n}]", sample=str(n)) for n in range(100_000))
    crossed = Plan.from_json(json.loads(json.dumps(Plan(tests=tests, tasks=PLAN.tasks).to_json())))
    assert crossed.tests == tests
    assert crossed.index["a.py::t[99999]"] == 99_999
