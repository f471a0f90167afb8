"""The isolations that this machine has; the others are skipped, unless one is demanded."""

from __future__ import annotations

import asyncio
import os
from functools import cache
from typing import Final

import pytest

from pytest_llmeval.errors import UsageError
from pytest_llmeval.sandbox.choice import find_isolation
from pytest_llmeval.sandbox.isolation import Isolation

_CONTAINERS: Final = "LLMEVAL_TEST_CONTAINERS"
"""A variable with isolations such as ``podman:IMAGE``, which are tested too; most machines have no
engine that may start containers, or no image with Python."""

ISOLATIONS: Final[tuple[Isolation, ...]] = (
    "bwrap",
    "landlock",
    *os.environ.get(_CONTAINERS, "").split(),
)

DEMANDED = "LLMEVAL_REQUIRE_SANDBOX"
"""A variable under which a machine without any isolation is a failure."""


@cache
def missing(isolation: Isolation) -> str | None:
    """Return why there is no such isolation here, None when there is."""
    try:
        asyncio.run(find_isolation(isolation))
    except UsageError as error:
        return str(error)
    return None


def require(isolation: Isolation) -> None:
    """Skip the test when there is no such isolation here."""
    reason = missing(isolation)
    if os.environ.get(DEMANDED) and all(missing(one) for one in ISOLATIONS):
        pytest.fail(f"no isolation at all: {reason}")
    if reason is not None:
        pytest.skip(reason)
