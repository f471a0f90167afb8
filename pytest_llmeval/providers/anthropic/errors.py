"""Failed calls to Anthropic's Messages API as provider errors: what they end, what to do."""

from __future__ import annotations

import anthropic

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.anthropic.verdicts import (
    is_filtered_body,
    other_provider_error,
    verdict,
)
from pytest_llmeval.providers.content_filters import is_filter
from pytest_llmeval.providers.http_failures import retry_after, status_error
from pytest_llmeval.providers.services import Endpoint


def provider_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    """Return the error of a failed call.

    Args:
        error: what the SDK or the reading of the reply raised.
        endpoint: where the call went.
    """
    match error:
        case anthropic.APIStatusError(status_code=status):
            wait = retry_after(error.response.headers)
            words = error.api_message if isinstance(error.api_message, str) else error.message
            ends = verdict(status, words, error.error_code, endpoint)
            return status_error(endpoint, status, words, ends, wait=wait)
        case _:
            return other_provider_error(error, endpoint)


def is_filtered(error: Exception) -> bool:
    """Return whether a failed call was refused by a policy filter, such as a gateway's."""
    match error:
        case anthropic.APIStatusError(status_code=status):
            return is_filter(status=status, words=error.message, codes=(error.error_code,))
        case _:
            return is_filtered_body(error)
