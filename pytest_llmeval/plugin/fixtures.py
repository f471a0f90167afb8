"""The fixtures: `sample`, `completion`, `judge`, `llm`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.errors import LLMEvalError, ModelLost, RunStopped, UsageError
from pytest_llmeval.plugin.running import LLM, RUNNING_TEST, Running, RunningJudge

if TYPE_CHECKING:
    from pytest_llmeval.plugin.parametrize import Case
    from pytest_llmeval.records import Completion, Sample


@pytest.fixture(name="_llmeval_case")  # the underscore keeps it out of `pytest --fixtures`
def llmeval_case(request: pytest.FixtureRequest) -> Case:
    """Return which sample, model and epoch the test was made for."""
    if not hasattr(request, "param"):
        msg = (
            f"{request.node.nodeid} uses `sample` or `completion` and names no task; "
            'mark it with @pytest.mark.llmeval("task.yaml")'
        )
        raise UsageError(msg)
    case: Case = request.param
    return case


@pytest.fixture
def sample(request: pytest.FixtureRequest, _llmeval_case: Case) -> Sample:
    """Return the dataset row that the test is about."""
    found = _running(request).sample
    assert found is not None  # noqa: S101 - set for every test with a case
    return found


@pytest.fixture
def completion(request: pytest.FixtureRequest, _llmeval_case: Case) -> Completion:
    """Return what the solver made of the sample; setting up waits for the model, and for the judge if the task has one.

    What the provider, the database or the judge failed at is raised here, so that it is an error of
    the test.
    """
    __tracebackhide__ = True
    try:
        return _running(request).wait()
    except RunStopped as stopped:
        request.session.shouldstop = str(stopped)
        pytest.skip(f"run stopped: {stopped}")
    except ModelLost as lost:
        pytest.skip(f"its model is lost: {lost}")
    except LLMEvalError as error:
        # Without the engine's own frames: what failed is outside of this process.
        raise error.with_traceback(None) from None


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> RunningJudge:
    """Return the run's judge: ``judge(problem=..., target=..., candidate=...)``."""
    return _running(request).judge


@pytest.fixture
def llm(request: pytest.FixtureRequest) -> LLM:
    """Return the model under test: ``llm.generate("Why is the sky blue?")``."""
    return _running(request).llm


def _running(request: pytest.FixtureRequest) -> Running:
    running: Running = request.node.stash[RUNNING_TEST]
    return running
