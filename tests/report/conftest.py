"""Chromium, and reports of a run to open in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.html_run import ATTACK, ATTACKS, example_run, formula, hostile, write_report, write_run
from report.in_chromium import Open, Opened, started_chromium


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start Chromium for a module's tests.

    Its event loop is open in this thread for as long, and tests elsewhere run their own.
    """
    with started_chromium() as browser:
        yield browser


@pytest.fixture
def opened(chromium: Any) -> Iterator[Open]:
    """Return what opens a report from disk.

    The test fails when the page complains or asks for anything.
    """
    made: list[tuple[Any, Opened]] = []

    def open_(report: Path, **context: Any) -> Opened:
        browsing = chromium.new_context(**context)
        page = browsing.new_page()
        page.set_default_timeout(20_000)
        result = Opened(page=page)
        address = report.as_uri()
        told = result.complaints.append
        page.on("console", lambda message: told(f"console: {message.text}"))
        page.on("pageerror", lambda error: told(f"error: {error}"))
        page.on("dialog", lambda dialog: told(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith((address, "data:")) or told(f"asked for {request.url}")
            ),
        )
        made.append((browsing, result))
        page.goto(address)
        page.locator("#found").get_by_text("sample").wait_for()
        return result

    yield open_
    for browsing, result in made:
        browsing.close()
        assert result.complaints == []


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(example_run(tmp_path_factory.mktemp("reports")))


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a run in which every text is an attack, all together and each alone."""
    samples = [
        hostile(),
        *map(hostile, ATTACKS),
        *(formula(str(n), text, text) for n, text in enumerate(ATTACKS)),
    ]
    return write_report(
        write_run(tmp_path_factory.mktemp("reports"), samples, info={"settings": {"x": ATTACK}})
    )
