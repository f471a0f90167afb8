"""The pytest plugin: its hooks and fixtures.

It is loaded in every pytest session, so it imports nothing that is slow to import.
"""

from pytest_llmeval.plugin.fixtures import completion, judge, llm, llmeval_parameters, sample
from pytest_llmeval.plugin.hooks import (
    pytest_addoption,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    pytest_pyfunc_call,
    pytest_report_teststatus,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_sessionfinish,
)

__all__ = [
    "completion",
    "judge",
    "llm",
    "llmeval_parameters",
    "pytest_addoption",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_pyfunc_call",
    "pytest_report_teststatus",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_sessionfinish",
    "sample",
]
