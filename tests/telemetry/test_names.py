"""The names of attributes are those of OpenTelemetry's own package of constants."""

from __future__ import annotations

import pytest

from pytest_llmeval.telemetry import names

attributes = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")


def test_each_name_of_the_conventions_is_one_of_theirs() -> None:
    theirs = {value for name, value in vars(attributes).items() if name.startswith("GEN_AI_")}
    ours = {value for value in vars(names).values() if str(value).startswith("gen_ai.")}
    ours |= set(names.PARAMETERS.values())
    # An event has a name of its own kind.
    assert ours - theirs == {names.EVALUATION}


def test_operations_and_providers_are_among_the_known_values() -> None:
    operations = {one.value for one in attributes.GenAiOperationNameValues}
    assert {*names.OPERATIONS.values(), names.EXECUTE_TOOL} <= operations
    providers = {one.value for one in attributes.GenAiProviderNameValues}
    assert {*names.PROVIDERS.values(), "openai", "anthropic"} <= providers
