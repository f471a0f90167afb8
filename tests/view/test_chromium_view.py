"""The pages of llmeval view in a real browser, over runs that grow."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from report.axe_core import violations
from report.html_run import ATTACK, ATTACKS, hostile, pictured
from report.in_chromium import ACTIVE, PHONE
from view.conftest import Visiting
from view.viewing import conclude, ended, going_on, row, viewed

from pytest_llmeval.results.answer_labels import read_labels
from pytest_llmeval.results.store import RunFolder


def address(folder: Path) -> str:
    return f"/runs/{quote(folder.name)}/"


def found(page: Any, text: str) -> None:
    page.locator("#found").get_by_text(text).wait_for()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two runs in which every text is an attack, also the name of one."""
    reports = tmp_path_factory.mktemp("reports")
    for day in (0, 1):
        pairs = [hostile(), *map(hostile, ATTACKS)]
        ended(
            reports,
            [one for one, _ in pairs],
            transcripts=pairs,
            day=day,
        )
    name = re.sub(r"[/\x00\ud800-\udfff]", "", ATTACK)[:60]
    next(iter(reports.glob("*Z-*"))).rename(reports / name)
    return reports


def test_hostile_texts_are_texts_on_every_page(attacked: Path, visit: Visiting) -> None:
    with viewed(attacked) as viewer:
        visiting = visit(viewer)
        runs = viewer.ask("/api/runs").json
        task = runs[0]["entries"][0]["task"]
        names = [quote(run["name"], safe="") for run in runs]
        pages = ["/", f"/trend?task={quote(task)}", f"/compare?a={names[1]}&b={names[0]}"]
        pages += [f"/runs/{name}/{what}" for name in names for what in ("", "label")]
        for one in pages:
            page = visiting.go(one)
            page.locator("main").wait_for()
            page.wait_for_function("document.readyState === 'complete'")
            assert page.evaluate("window.hacked") is None, one
            active = [text for text in page.evaluate(ACTIVE) if "href=" not in text]
            assert active == [], one
        page = visiting.go(f"/runs/{names[0]}/")
        page.locator("#table tbody a").first.click()
        page.locator("#sample section").last.wait_for()
        assert page.evaluate("window.hacked") is None


def test_a_page_grows_with_its_run_and_keeps_what_its_reader_does(
    tmp_path: Path, visit: Visiting
) -> None:
    rows = [row(number, "correct" if number % 2 else "incorrect") for number in range(40)]
    with going_on(tmp_path, planned=40) as folder, viewed(tmp_path) as viewer:
        for one in rows[:10]:
            folder.add_row(one)
        page = visit(viewer).go(address(folder.path))
        found(page, "10 samples")
        page.locator("#live").get_by_text("10 of 40 rows").wait_for()
        details = page.locator("#overview details").first
        details.evaluate("one => { one.open = true; one.mine = 'yes'; }")
        page.get_by_label("Search").fill("answer")
        page.locator("#search").evaluate("one => one.setSelectionRange(2, 4)")
        page.evaluate("scrollTo(0, 300)")
        for one in rows[10:]:
            folder.add_row(one)
        found(page, "40 samples")
        page.locator(".lead").get_by_text("40", exact=True).wait_for()
        page.get_by_text("50.0 %").first.wait_for()
        assert page.evaluate("scrollY") == 300
        where = "[document.activeElement.id, document.activeElement.selectionStart]"
        assert page.evaluate(where) == ["search", 2]
        assert details.evaluate("one => one.open && one.mine") == "yes"
        conclude(folder, rows)
        page.locator("#live .ended").wait_for()


def test_a_row_that_is_reported_again_takes_its_place(tmp_path: Path, visit: Visiting) -> None:
    with going_on(tmp_path, planned=2) as folder, viewed(tmp_path) as viewer:
        folder.add_row(row(1, "error"))
        folder.add_row(row(2))
        page = visit(viewer).go(address(folder.path))
        found(page, "2 samples")
        assert page.locator("#table .pill.error").count() == 1
        folder.add_row(row(1, "correct"))
        page.locator("#table .pill.error").wait_for(state="detached")
        assert page.locator("#table .pill.correct").count() == 2
        found(page, "2 samples")


def test_the_list_grows_with_its_runs(tmp_path: Path, visit: Visiting) -> None:
    ended(tmp_path, [row(1)])
    with viewed(tmp_path) as viewer:
        page = visit(viewer).page
        found(page, "1 run")
        box = page.get_by_role("checkbox").first.element_handle()
        box.focus()
        with going_on(tmp_path, planned=3, day=1) as folder:
            folder.add_row(row(1))
            page.get_by_text("1 of 3").wait_for()
            found(page, "2 runs")
            assert box.evaluate("one => one === document.activeElement")
            folder.add_row(row(2, "incorrect"))
            page.get_by_text("2 of 3").wait_for()
            page.locator(".entries").get_by_text("50.0 %").wait_for()
        page.get_by_label("Search").fill("nothing has this")
        found(page, "none fits")
        page.get_by_label("Search").fill("sums")
        for one in page.get_by_role("checkbox").all():
            one.check()
        page.get_by_role("link", name="Compare the two").click()
        page.wait_for_url("**/compare?**")
        page.get_by_text("sums").first.wait_for()


def test_a_run_that_is_deleted_while_it_is_open_is_told(tmp_path: Path, visit: Visiting) -> None:
    folder = ended(tmp_path, [row(1)])
    ended(tmp_path, [row(1)], day=1)
    with viewed(tmp_path) as viewer:
        visiting = visit(viewer)
        with going_on(tmp_path, planned=3, day=2) as run:
            page = visiting.go(address(run.path))
            page.locator("#live .running").wait_for()
        for file in run.path.iterdir():
            file.unlink()
        run.path.rmdir()
        page.get_by_text("This page is not renewed: There is no such run").wait_for()
        visiting.complaints.clear()  # the browser notes the refusal on its console
        assert folder.exists()


def test_a_labeller_goes_through_the_answers(tmp_path: Path, visit: Visiting) -> None:
    one, transcript = pictured()
    rows = [row(number) for number in range(3)]
    folder = ended(tmp_path, [*rows, one], transcripts=[(one, transcript)])
    with viewed(tmp_path) as viewer:
        page = visit(viewer, viewport=PHONE).go(address(folder) + "label")
        page.get_by_label("Your name").fill("ann")
        for number in range(1, 5):
            page.get_by_role("heading", name=f"Answer {number}").wait_for()
            assert "exact" not in page.locator("#case").inner_text()
            page.get_by_role("button", name="Correct", exact=False).first.click()
        page.get_by_text("All answers have a label").wait_for()
        assert [dict(label.correct) for label in read_labels(folder)] == [{"ann": True}] * 4
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_label_on_a_samples_page_shows_at_once(tmp_path: Path, visit: Visiting) -> None:
    folder = ended(tmp_path, [row(1), row(2)])
    with viewed(tmp_path) as viewer:
        page = visit(viewer).go(address(folder))
        page.locator("#table tbody a").first.click()
        labels = page.locator(".labels")
        labels.get_by_label("Your name").fill("bob")
        labels.get_by_role("button", name="Incorrect").click()
        labels.get_by_text("bob: ").wait_for()
        assert [dict(label.correct) for label in read_labels(folder)] == [{"bob": False}]


class Writer(threading.Thread):
    """Writes the rows of a run one after another, as a session on another machine does."""

    def __init__(self, folder: RunFolder, count: int) -> None:
        """Take the run's folder, and how many rows to write."""
        super().__init__()
        self.folder, self.count = folder, count

    def run(self) -> None:
        for number in range(self.count):
            self.folder.add_row(row(number, "correct" if number % 3 else "incorrect"))


def test_two_viewers_see_all_rows_of_a_writer(tmp_path: Path, visit: Visiting) -> None:
    with going_on(tmp_path, planned=300) as folder, viewed(tmp_path) as viewer:
        pages = [visit(viewer).go(address(folder.path)) for _ in range(2)]
        writer = Writer(folder, 300)
        writer.start()
        for page in pages:
            found(page, "300 samples")
        writer.join()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(tmp_path: Path, visit: Visiting, scheme: str) -> None:
    pairs = [pictured(str(number)) for number in range(3)]
    for day in (0, 1):
        ended(tmp_path, [one for one, _ in pairs], transcripts=pairs, day=day)
    names = sorted(one.name for one in tmp_path.glob("*Z-*"))
    with viewed(tmp_path) as viewer:
        visiting = visit(viewer, color_scheme=scheme, bypass_csp=True)
        task = quote(pairs[0][0].task)
        pages = {
            "/": "#chosen",
            f"/trend?task={task}": "#trend",
            f"/compare?a={names[0]}&b={names[1]}": "#table tr",
            f"/runs/{names[0]}/": "#table tr",
            f"/runs/{names[0]}/label": "main h2",
        }
        for one, shown in pages.items():
            page = visiting.go(one)
            page.locator(shown).first.wait_for()
            assert violations(page) == [], one
