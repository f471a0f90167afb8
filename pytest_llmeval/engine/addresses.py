"""Addresses of servers, as users give them."""

from __future__ import annotations

from urllib.parse import urlsplit

from pytest_llmeval.errors import UsageError


def check_address(url: str, name: str) -> str:
    """Return the host in an http address.

    Args:
        url: the address.
        name: where it was given, for messages.

    Raises:
        UsageError: it is no http address, or it holds a password or a query. Those would appear in
            files and messages.
    """
    if "@" in url or "?" in url:
        what = "a user or password" if "@" in url else "a query"
        msg = f"{name}: the address holds {what}; keys come from environment variables only"
        raise UsageError(msg)
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in {"http", "https"} else None
    except ValueError:
        host = None
    if not host:
        msg = f"{name}: {url!r} is no address; expected one such as http://localhost:8000/v1"
        raise UsageError(msg)
    return host
