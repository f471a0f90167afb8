"""The fixtures: `sample`, `completion`, `judge`, `llm`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.errors import LLMEvalError, ModelLost, RunStopped, TaskStopped, UsageError
from pytest_llmeval.plugin.state import STATE

if TYPE_CHECKING:
    from pytest_llmeval.plugin.parameters import Parameters
    from pytest_llmeval.records import Completion, Sample
    from pytest_llmeval.session.asking import LLM, RunningJudge
    from pytest_llmeval.session.attempt import Attempt


@pytest.fixture(name="_llmeval_parameters")  # the underscore hides it from `pytest --fixtures`
def llmeval_parameters(request: pytest.FixtureRequest) -> Parameters:
    """Return the sample, model and epoch of the test; UsageError for a test without a task."""
    if not hasattr(request, "param"):
        msg = (
            f"{request.node.nodeid} uses `sample` or `completion` without a task; "
            'mark it with @pytest.mark.llmeval("task.yaml")'
        )
        raise UsageError(msg)
    parameters: Parameters = request.param
    return parameters


@pytest.fixture
def sample(request: pytest.FixtureRequest, _llmeval_parameters: Parameters) -> Sample:
    """Return the sample of the test: one row of the task's dataset."""
    found = _attempt(request).sample
    assert found is not None  # noqa: S101 - set for every test with parameters
    return found


@pytest.fixture
def completion(request: pytest.FixtureRequest, _llmeval_parameters: Parameters) -> Completion:
    """Return the solver's result for the sample.

    The set-up waits for the model, and for the requests of the task's scorers. Failures of a
    provider or a tool are raised here, so that pytest reports an error of the test.
    """
    __tracebackhide__ = True
    try:
        return _attempt(request).wait()
    except RunStopped as stopped:
        request.session.shouldstop = str(stopped)
        pytest.skip(f"run stopped: {stopped}")
    except ModelLost as lost:
        pytest.skip(str(lost))
    except TaskStopped as stopped:
        pytest.skip(str(stopped))
    except LLMEvalError as error:
        # Without the engine's stack frames, which do not help the author of a test.
        raise error.with_traceback(None) from None


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> RunningJudge:
    """Return the run's judge: ``judge(problem=..., target=..., candidate=...)``."""
    return _attempt(request).judge


@pytest.fixture
def llm(request: pytest.FixtureRequest) -> LLM:
    """Return the run's models, first the one under test: ``llm.generate("Why is it blue?")``."""
    return _attempt(request).llm


def _attempt(request: pytest.FixtureRequest) -> Attempt:
    return request.config.stash[STATE].process.attempt(request.node)
