"""The hooks of every process. Each finds the session's object and calls it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.plugin import options
from pytest_llmeval.plugin.main_hooks import MainHooks
from pytest_llmeval.plugin.reporting import status_of
from pytest_llmeval.plugin.session import SESSION, EvalSession
from pytest_llmeval.plugin.sharding import Sharding


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options."""
    options.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and read the options."""
    config.addinivalue_line(
        "markers", "llmeval(task_file): make one test for each sample of an LLM benchmark's task"
    )
    try:
        session = EvalSession(config)
    except LLMEvalError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[SESSION] = session
    if session.settings.estimate:
        # Before xdist looks at it: nothing runs, so no workers are needed.
        config.option.dist = "no"
    if session.settings.shard is not None:
        config.pluginmanager.register(Sharding(*session.settings.shard), "llmeval-shard")
    if session.main is not None:
        config.pluginmanager.register(MainHooks(config, session.main), "llmeval-main")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make tests from samples."""
    metafunc.config.stash[SESSION].parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add tags before ``-k`` selects."""
    config.stash[SESSION].prepare(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Plan what was selected; before xdist tells its controller, which then lets tests run that ask."""
    session.config.stash[SESSION].collected(session.items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin an attempt (reruns begin anew)."""
    item.config.stash[SESSION].begin(item)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End the attempt."""
    item.config.stash[SESSION].end()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the row on the report."""
    report = yield
    item.config.stash[SESSION].attach(item, call, report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show a provider's, database's or judge's failure in a test body as an error."""
    return status_of(report)
