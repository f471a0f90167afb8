"""The hooks of every process; each calls the plugin's state."""

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
    """Register the mark, and read the options."""
    mark = "llmeval(task_file): make one test for each sample of an LLM benchmark's task"
    config.addinivalue_line("markers", mark)
    config.stash[STATE] = state = State(config)
    if state.settings.estimate:
        # Set before xdist reads it: an estimate runs no tests and needs no workers.
        config.option.dist = "no"
    if state.settings.shard is not None:
        config.pluginmanager.register(Sharding(*state.settings.shard), "llmeval-shard")
    if not hasattr(config, "workerinput"):
        state.start_workers()
        config.pluginmanager.register(MainHooks(state), "llmeval-main")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each sample, model and epoch of a marked test function."""
    if metafunc.definition.get_closest_marker("llmeval") is not None:
        metafunc.config.stash[STATE].process.parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the samples' tags as keywords, before ``-k`` selects."""
    if (state := config.stash[STATE]).active:
        state.process.prepare(items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Plan the selected tests, before xdist reports the collection and tests are started."""
    if (state := session.config.stash[STATE]).active:
        state.collected(session.items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin an attempt; a rerun begins another one."""
    if (state := item.config.stash[STATE]).concerns(item):
        state.process.begin(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passed although its scores are incorrect."""
    __tracebackhide__ = True
    state = item.config.stash[STATE]
    return (yield from state.process.body(item)) if state.active else (yield)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run the body of a test that is a coroutine, if no other plugin does."""
    __tracebackhide__ = True
    state = pyfuncitem.config.stash[STATE]
    return True if state.active and state.process.run_coroutine(pyfuncitem) else None


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End the attempt."""
    if (state := item.config.stash[STATE]).active:
        state.process.end()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the row to the report."""
    report = yield
    if (state := item.config.stash[STATE]).active:
        state.process.attach(item, call, report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show the failure of a provider, tool or judge in a test body as an error."""
    is_error = report.failed and getattr(report, "llmeval_error", False)
    return ("error", "E", "ERROR") if is_error else None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Cancel the bodies that have begun ahead of tests that never came."""
    if (state := session.config.stash[STATE]).active:
        state.process.bodies.close()
