"""The failures of requests in batches."""

from __future__ import annotations

from pytest_llmeval.engine.batches.ports import BatchState
from pytest_llmeval.errors import ProviderError


def without_result(state: BatchState, model: str) -> ProviderError:
    """Return the error of a request for which an ended batch brought nothing."""
    if state.cancelled:
        problem = "the batch was cancelled before this request was answered"
        return ProviderError(f"{model}: {problem}", cause="cancelled")
    problem = "the batch ended without a result for this request"
    return ProviderError(f"{model}: {problem}", reach="attempt", cause="expired")


def of_model(error: ProviderError) -> ProviderError:
    """Return the error by which a batch API refuses to tell of a batch, as one of the model."""
    return ProviderError(str(error), reach="model", status=error.status, cause=error.cause)


def copy_of(error: ProviderError) -> ProviderError:
    """Return an equal error: one that is raised twice gathers both tracebacks."""
    return ProviderError(
        str(error),
        reach=error.reach,
        status=error.status,
        retry_after=error.retry_after,
        cause=error.cause,
    )
