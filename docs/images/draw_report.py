"""Takes a report's picture.

``python docs/images/draw_report.py reports/latest/report.html docs/images/report.png``
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

SIZE: ViewportSize = {"width": 1280, "height": 860}


def main(report: str, picture: str) -> None:
    """Open the report in an installed Chromium, as its first screen, and store what it shows."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto(Path(report).resolve().as_uri())
        page.wait_for_selector("#table tr")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
