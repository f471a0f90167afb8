"""A tool that takes longer than a sample may."""

from __future__ import annotations

import time


def wait() -> str:
    """Wait for two seconds."""
    time.sleep(2)
    return "late"
