"""The names of this plugin's fixtures."""

from __future__ import annotations

from typing import Final

FIXTURES: Final = frozenset({"sample", "completion", "judge", "llm"})
"""The fixtures that tests use."""

PARAMETERS: Final = "_llmeval_parameters"
"""The fixture with a test's parameters, on which `sample` and `completion` depend."""

OURS: Final = "pytest_llmeval.plugin.fixtures"
"""The module of this plugin's fixtures."""
