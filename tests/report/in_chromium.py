"""A report in a real browser: a Chromium on the path, driven by playwright."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

import pytest

REQUIRED = os.environ.get("LLMEVAL_REQUIRE_CHROMIUM") == "1"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"width": 390, "height": 844}


@contextmanager
def started_chromium() -> Iterator[Any]:
    """Start Chromium; skip where there is none, unless LLMEVAL_REQUIRE_CHROMIUM=1 forbids that."""
    playwright = (
        importlib.import_module("playwright.sync_api")
        if REQUIRED
        else pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    )
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        reason = f"no browser on the path (looked for {', '.join(BROWSERS)})"
        if REQUIRED:
            pytest.fail(f"LLMEVAL_REQUIRE_CHROMIUM=1, but {reason}")
        pytest.skip(reason)
    with playwright.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@dataclass(kw_only=True)
class Opened:
    """A report in a page, and everything the page did that a report must not do."""

    page: Any
    complaints: list[str] = field(default_factory=list)

    def rows(self) -> list[str]:
        """Return the ids in the table, as they stand."""
        return list(self.page.locator("#table tbody th a").all_inner_texts())

    def shown(self, task: str, sample: str) -> Any:
        """Open a sample by its address and return its view."""
        address = "#" + "/".join(quote(name, safe="!'()*~") for name in (task, sample))
        self.page.evaluate(SHOW, address)
        return self.page.locator("#sample")

    def sample(self, name: str) -> Any:
        """Open a sample by its link and return its view."""
        self.page.get_by_role("link", name=name, exact=True).click()
        self.page.locator("#sample section").last.wait_for()
        return self.page.locator("#sample")


Open: TypeAlias = Callable[..., Opened]
"""Opens a report from disk; keywords are those of playwright's contexts."""


ACTIVE = """
[...document.querySelectorAll('*')].filter((one) =>
  one.matches('iframe, object, embed, mglyph, animate, [style]')
  || one.matches('[srcdoc]') || [...one.attributes].some(({ name, value }) => /^on/i.test(name)
    || (/^(href|src|action|formaction|data|xlink:href)$/i.test(name)
      && !/^(#|data:image\\/png;)/.test(value))))
.map((one) => one.outerHTML)
"""
"""Elements that could do anything, or lead anywhere but to a place in the page."""

SHOW = """
(address) => new Promise((done) => {
  const drawn = () => document.querySelector('#sample').dataset.drawn || '';
  const look = () => (drawn().startsWith(`${address}/`) ? done() : setTimeout(look, 5));
  location.hash = address;
  look();
})
"""
"""Opens the first row of an address, and waits for all of its page."""
