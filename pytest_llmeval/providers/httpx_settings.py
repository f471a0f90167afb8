"""Limits of connections, for SDKs that take httpx2's settings."""

from __future__ import annotations

from typing import Final

import httpx2

from pytest_llmeval.providers.connections import CONNECT_TIMEOUT, CONNECTIONS

LIMITS: Final = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)


def time_limits(timeout: float) -> httpx2.Timeout:
    """Return a client's time-outs, for requests that may take `timeout` seconds."""
    return httpx2.Timeout(timeout, connect=min(timeout, CONNECT_TIMEOUT))
