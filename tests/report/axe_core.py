"""axe-core, which looks for what keeps people from using a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def violations(page: Any) -> Sequence[str]:
    """Return what axe-core finds in a page, each with its first place; skip where it is missing.

    The page must be opened with `bypass_csp`, as axe-core is a script of its own.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe-core")
    found = axe.Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
