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

_NAMED: Final[tuple[Isolation, ...]] = tuple(os.environ.get(_CONTAINERS, "").split())

TRIED: Final[tuple[Isolation, ...]] = ("bwrap", "landlock", *_NAMED)
"""The isolations that are tested where this machine has them."""

_NO_CONTAINER: Final = pytest.param(
    "container",
    marks=pytest.mark.skip(f"no container is named, such as {_CONTAINERS}=podman:IMAGE"),
)

ISOLATIONS: Final = TRIED if _NAMED else (*TRIED, _NO_CONTAINER)
"""The same as parameters of a test; where no container is named, its case is skipped."""

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
    if os.environ.get(DEMANDED) and all(missing(one) for one in TRIED):
        pytest.fail(f"no isolation at all: {reason}")
    if reason is not None:
        pytest.skip(reason)
