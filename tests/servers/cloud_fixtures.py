"""The servers of Google's Gemini API and of Bedrock's Converse API as fixtures."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest
from servers.fixture import ModelServer, running


@pytest.fixture(scope="session")
def gemini_server_process() -> Iterator[ModelServer]:
    """Run one server of the Gemini API for the whole session."""
    with running("gemini_server.py") as server:
        yield server


@pytest.fixture
def gemini_server(
    gemini_server_process: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> ModelServer:
    """Return the server of the Gemini API, behaving well.

    It speaks http; but Google's SDK reads all certificates three times for each client.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: context)
    gemini_server_process.program()
    return gemini_server_process


@pytest.fixture(scope="session")
def converse_server_process() -> Iterator[ModelServer]:
    """Run one server of the Converse API for the whole session."""
    with running("converse_server.py") as server:
        yield server


@pytest.fixture
def converse_server(
    converse_server_process: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> ModelServer:
    """Return the server of the Converse API, behaving well; botocore finds test credentials."""
    converse_server_process.program()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent/config",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/credentials",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    return converse_server_process
