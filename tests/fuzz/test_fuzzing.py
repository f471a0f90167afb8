"""Ten seconds of search for each reader of hostile texts find nothing that breaks a promise."""

from __future__ import annotations

import importlib.util
import os

import pytest
from fuzz.fuzzing import search
from fuzz.target import NAMES

SECONDS = int(os.environ.get("LLMEVAL_FUZZ_SECONDS", "10"))
NEEDED = ("atheris", "antlr4_cypher")


@pytest.fixture(autouse=True)
def _fuzzer() -> None:
    """Skip where the dependency group fuzz is not installed; LLMEVAL_REQUIRE_FUZZ=1 forbids it."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if not missing:
        return
    reason = f"the dependency group fuzz is not installed: no {', '.join(missing)}"
    if os.environ.get("LLMEVAL_REQUIRE_FUZZ") == "1":
        pytest.fail(f"LLMEVAL_REQUIRE_FUZZ=1, but {reason}")
    pytest.skip(reason)


@pytest.mark.parametrize("name", NAMES)
def test_a_search_finds_nothing_that_breaks_a_promise(name: str) -> None:
    result = search(name, SECONDS)
    assert result.sound, str(result)
    assert result.executions > 0
    assert result.coverage > 0
