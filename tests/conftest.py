"""What the whole test suite shares: the way to the read-only reference material, when it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from servers.fixture import model_server, model_server_process

__all__ = ["model_server", "model_server_process"]

SHARED = Path(os.environ.get("LLMEVAL_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference material; skip where it is absent."""
    if not (SHARED / "DESIGN.md").is_file():
        pytest.skip(f"reference material not found at {SHARED}")
    return SHARED
