"""The result of a gate in the JUnit XML file that pytest writes."""

from __future__ import annotations

import pytest
from _pytest.junitxml import xml_key

from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.safety.printable import printable

GATE = "llmeval.gate"
"""The name of the property with the result; the names of single rules' properties start with it."""


def add_to_junit(config: pytest.Config, gate: GateResult) -> None:
    """Add the result and its rules as properties of the test suite, if JUnit XML is written."""
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    xml.add_global_property(GATE, "passed" if gate.passed else "not passed")
    for one in gate.results:
        name = ".".join(part for part in (GATE, one.task, one.metric) if part)
        value = "" if one.value is None else f": {one.value} ({one.bounds})"
        xml.add_global_property(
            printable(name), printable(f"{one.status}{value} {one.model}".rstrip())
        )
