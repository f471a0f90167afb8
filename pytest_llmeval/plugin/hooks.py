"""The hooks of every process. Each finds the state and calls it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_llmeval.plugin.main_hooks import MainHooks
from pytest_llmeval.plugin.sharding import Sharding
from pytest_llmeval.plugin.state import STATE, State, add_options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark and read the options."""
    mark = "llmeval(task_file): make one test for each sample of an LLM benchmark's task"
    config.addinivalue_line("markers", mark)
    config.stash[STATE] = state = State(config)
    if state.settings.estimate:
        # Before xdist looks at it: nothing runs, so no workers are needed.
        config.option.dist = "no"
    if state.settings.shard is not None:
        config.pluginmanager.register(Sharding(*state.settings.shard), "llmeval-shard")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(MainHooks(state), "llmeval-main")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make tests from samples."""
    if metafunc.definition.get_closest_marker("llmeval") is not None:
        metafunc.config.stash[STATE].process.parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add tags before ``-k`` selects."""
    if (state := config.stash[STATE]).active:
        state.process.prepare(items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Plan what was selected; before xdist tells its controller, which then lets tests run."""
    if (state := session.config.stash[STATE]).active:
        state.collected(session.items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin an attempt (reruns begin anew)."""
    if (state := item.config.stash[STATE]).concerns(item):
        state.process.begin(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Let the outcome follow the scores."""
    __tracebackhide__ = True
    state = item.config.stash[STATE]
    return (yield from state.process.body(item)) if state.active else (yield)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End the attempt."""
    if (state := item.config.stash[STATE]).active:
        state.process.end()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the row on the report."""
    report = yield
    if (state := item.config.stash[STATE]).active:
        state.process.attach(item, call, report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show a provider's, tool's or judge's failure in a test body as an error."""
    is_error = report.failed and getattr(report, "llmeval_error", False)
    return ("error", "E", "ERROR") if is_error else None
