"""A gate's verdict in JUnit XML, which pytest writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.results.gate_result import GateResult

GATE = "llmeval.gate"
"""The property with the verdict; those of single rules are named after it."""


def add_to_junit(config: pytest.Config, gate: GateResult) -> None:
    """Make verdict and rules properties of the test suite, if JUnit XML is written."""
    from _pytest.junitxml import xml_key  # noqa: PLC0415 - private: only a fixture reaches it otherwise

    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    xml.add_global_property(GATE, "passed" if gate.passed else "not passed")
    for one in gate.results:
        name = ".".join(part for part in (GATE, one.task, one.metric) if part)
        said = (
            f"{one.verdict}: {one.value} ({one.bounds})" if one.value is not None else one.verdict
        )
        xml.add_global_property(name, f"{said} {one.model}".rstrip())
