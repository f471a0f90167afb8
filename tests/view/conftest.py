"""Chromium for pages that come from the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest
from report.in_chromium import started_chromium
from view.viewing import Viewer


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start Chromium for a module's tests.

    Its event loop is open in this thread for as long, and tests elsewhere run their own.
    """
    with started_chromium() as browser:
        yield browser


@dataclass(kw_only=True)
class Visit:
    """A page of the server, opened with its token, and what it did that it must not do."""

    page: Any
    base: str
    complaints: list[str] = field(default_factory=list)

    def go(self, address: str) -> Any:
        """Open an address of the server."""
        self.page.goto(self.base + address)
        return self.page


Visiting: TypeAlias = Callable[..., Visit]


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visiting]:
    """Return what opens the server's pages; the test fails when one complains or asks others."""
    made: list[Visit] = []

    def open_(viewer: Viewer, **context: Any) -> Visit:
        browsing = chromium.new_context(**context)
        page = browsing.new_page()
        page.set_default_timeout(20_000)
        visit = Visit(page=page, base=f"http://{viewer.host}")
        told = visit.complaints.append
        page.on("console", lambda message: told(f"console: {message.text}"))
        page.on("pageerror", lambda error: told(f"error: {error}"))
        page.on("dialog", lambda dialog: told(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith((visit.base, "data:")) or told(f"asked for {request.url}")
            ),
        )
        viewer.browsers.callback(browsing.close)
        made.append(visit)
        page.goto(viewer.access.address)
        page.wait_for_url(f"{visit.base}/")
        return visit

    yield open_
    for visit in made:
        assert visit.complaints == []
