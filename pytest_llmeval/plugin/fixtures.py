"""The fixtures: `sample`, `completion`, `judge`, `llm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_llmeval.errors import LLMEvalError, ModelLost, RunStopped, TaskStopped, UsageError
from pytest_llmeval.plugin.state import STATE

if TYPE_CHECKING:
    from pytest_llmeval.records import Completion, Sample
    from pytest_llmeval.session.asking import LLM, RunningJudge
    from pytest_llmeval.session.attempt import Attempt


class Turn(NamedTuple):
    """What the fixtures of a test with a sample share.

    Attributes:
        attempt: the attempt at the test.
        session: pytest's session.
    """

    attempt: Attempt
    session: pytest.Session


@pytest.fixture(name="_llmeval_parameters")  # the underscore hides it from `pytest --fixtures`
def llmeval_parameters(request: pytest.FixtureRequest) -> Turn:
    """Return the turn of the test, whose parameters say what its sample, model and epoch are.

    The other fixtures take it from here: pytest makes each fixture's `request` anew, twice a test.

    Raises:
        UsageError: the test has no task.
    """
    if not hasattr(request, "param"):
        msg = (
            f"{request.node.nodeid} uses `sample` or `completion` without a task; "
            'mark it with @pytest.mark.llmeval("task.yaml")'
        )
        raise UsageError(msg)
    return Turn(_attempt(request), request.session)


@pytest.fixture
def sample(_llmeval_parameters: Turn) -> Sample:
    """Return the sample of the test: one row of the task's dataset."""
    found = _llmeval_parameters.attempt.sample
    assert found is not None  # noqa: S101 - set for every test with parameters
    return found


@pytest.fixture
def completion(_llmeval_parameters: Turn) -> Completion:
    """Return the solver's result for the sample.

    The set-up waits for the model, and for the requests of the task's scorers. Failures of a
    provider or a tool are raised here, so that pytest reports an error of the test.
    """
    __tracebackhide__ = True
    try:
        return _llmeval_parameters.attempt.wait()
    except RunStopped as stopped:
        _llmeval_parameters.session.shouldstop = str(stopped)
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
