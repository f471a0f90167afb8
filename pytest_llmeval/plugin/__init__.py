"""The pytest plugin: hooks and fixtures, nothing else.

Loaded in every pytest session, so it imports little.
"""

from pytest_llmeval.plugin.fixtures import completion, judge, llm, llmeval_case, sample
from pytest_llmeval.plugin.hooks import (
    pytest_addoption,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    pytest_report_teststatus,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_runtest_teardown,
)

__all__ = [
    "completion",
    "judge",
    "llm",
    "llmeval_case",
    "pytest_addoption",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_report_teststatus",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "sample",
]
