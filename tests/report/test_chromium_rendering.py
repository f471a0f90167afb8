"""Markdown and formulas on a sample's page: rendered within an allow-list, raw on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from report.html_run import ATTACKS, call, row, write_report, write_run
from report.in_chromium import ACTIVE, Open
from report.renderer_attacks import ENTANGLED, LEADING_OUT

from pytest_llmeval.records import (
    Message,
    Reply,
    Row,
    Score,
    ToolCall,
    ToolUse,
    Transcript,
)

ELEMENTS = (
    "a article b blockquote br button code dd del details div dl dt em figcaption figure h2 h3 h4 "
    "hr img ins kbd label li nav ol option p pre rect s section select span strong summary svg "
    "table caption tbody td th thead title tr ul wbr"
)
MATH = (
    "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover "
    "mmultiscripts mprescripts none mtable mtr mtd mstyle"
)
ATTRIBUTES = (
    "accent alt aria-current aria-disabled aria-hidden aria-label aria-level aria-pressed class "
    "columnalign dir disabled display displaystyle fence form height href largeop linethickness "
    "lspace mathvariant maxsize minsize movablelimits open rel role rspace scope scriptlevel "
    "separator src start stretchy symmetric tabindex title type value viewBox width x y"
)

TEXT = r"""
# Rooms
### Deep

Two *rooms*, **three** doors, `x = 1`:

1. first
2. second
   - inner

| name | size |
|:-----|-----:|
| hall | 4    |

> quoted

```python
print("<b>")
```

[link](http://example.org/x) and ![plan](http://example.org/y.png), <b>bold</b>, costs $5 and $6

Inline \(a^2\) and $b_1$, then

\[
c
+ d
\]
"""


def everywhere(sample: str, text: str) -> tuple[Row, Transcript]:
    """Return a sample that has the text in every place of its page."""
    tool = ToolCall(id="1", name="look", arguments=text)
    first = call(
        Message.of("user", text),
        stage="turn 1",
        reply=Reply(text=f"{text}\n\n1", reasoning=text, tool_calls=(tool,), latency=1.0),
    )
    use = ToolUse(stage="turn 1", tool="look", input=text, output=f"{text}\n\n2", seconds=0.1)
    last = call(Message.of("user", text), f"{text}\n\n3")
    score = Score(name="exact", value=0.0, correct=False, explanation=f"{text}\n\n4")
    made = row("graph", sample, "incorrect", answer=text, target=text, scores=(score,))
    return replace(made, details={text: text}), Transcript(events=(first, use, last))


def samples(texts: list[str]) -> list[tuple[Row, Transcript]]:
    return [everywhere(f"{number:03}", text) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [*LEADING_OUT, *ATTACKS]
    return write_report(write_run(tmp_path_factory.mktemp("reports"), samples(texts)))


def outside(page: Any) -> list[str]:
    """Return what stands on the sample's page and on no list."""
    lists = [one.split() for one in (ELEMENTS, MATH, ATTRIBUTES)]
    found: list[str] = page.evaluate(OUTSIDE, lists)
    return found


def test_nothing_that_is_rendered_leads_out_or_is_on_no_list(opened: Open, attacked: Path) -> None:
    view = opened(attacked)
    for number, text in enumerate([*LEADING_OUT, *ATTACKS]):
        shown = view.shown("graph", f"{number:03}")
        assert shown.locator(".rendered").count() > 2
        assert outside(view.page) == []
        assert view.page.evaluate(ACTIVE) == []
        assert view.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if text.isprintable():
            view.page.get_by_role("button", name="Raw text").click()
            assert shown.inner_text().count(text) >= 6
            assert view.page.evaluate(ACTIVE) == []
            view.page.get_by_role("button", name="Raw text").click()
    assert view.page.evaluate("window.hacked") is None


def test_texts_that_entangle_renderers_are_shown_all_the_same(opened: Open, tmp_path: Path) -> None:
    rows = [
        (row("graph", name, "correct"), Transcript(events=(call(Message.of("user", "?"), text),)))
        for name, text in ENTANGLED.items()
    ]
    view = opened(write_report(write_run(tmp_path, rows)))
    for name in ENTANGLED:
        shown = view.shown("graph", f"{name}")
        assert shown.locator(".stages .box").first.evaluate("one => one.hasChildNodes()")
        assert outside(view.page) == []


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = call(Message.of("user", "Describe it."), TEXT)
    long = call(Message.of("user", "Again?"), "*a* " * 6_000)
    rows = [
        (row("graph", "1", "correct"), Transcript(events=(asked,))),
        (row("graph", "2", "correct"), Transcript(events=(long,))),
    ]
    return write_report(write_run(tmp_path_factory.mktemp("reports"), rows))


def test_a_reply_is_rendered(opened: Open, written: Path) -> None:
    reply = opened(written).shown("graph", "1").locator(".answered")
    headings = reply.get_by_role("heading").evaluate_all(
        "all => all.map((one) => [one.textContent, one.ariaLevel])"
    )
    assert headings == [["Rooms", "5"], ["Deep", "6"]]
    texts = {
        name: reply.locator(name).first.inner_text()
        for name in ("em", "strong", "ol > li", "ol ul li", "thead th", "td.right", "blockquote")
    }
    assert texts == {
        "em": "rooms", "strong": "three", "ol > li": "first", "ol ul li": "inner",
        "thead th": "name", "td.right": "4", "blockquote": "quoted",
    }  # fmt: skip
    assert reply.locator("pre").inner_text() == 'print("<b>")'
    told = reply.inner_text()
    assert "link (http://example.org/x) and [picture: plan (http://example.org/y.png)]" in told
    assert "<b>bold</b>, costs $5 and $6" in told
    assert reply.locator("a, img").count() == 0
    assert reply.locator("math").all_text_contents() == ["a2", "b1", "c+d"]


def test_texts_are_raw_on_request_and_stay_so(opened: Open, written: Path) -> None:
    view = opened(written)
    shown = view.shown("graph", "1")
    view.page.get_by_role("button", name="Raw text").click()
    assert shown.locator(".answered").evaluate("one => one.textContent") == TEXT
    view.page.reload()
    view.shown("graph", "2")
    shown = view.shown("graph", "1")
    assert shown.locator(".rendered").count() == 0
    view.page.get_by_role("button", name="Raw text").click()
    assert shown.locator(".answered em").inner_text() == "rooms"


def test_a_long_text_is_raw_with_a_note(opened: Open, written: Path) -> None:
    told = opened(written).shown("graph", "2").inner_text()
    assert "Shown raw: of 24,000 characters, more than the 20,000 that are rendered." in told


SIGNS = "a\u202eb **c\u200bd** `e\u2066` \x00 $f\u202e$"


def test_signs_without_a_shape_are_shown_by_number_where_texts_are_rendered(
    opened: Open, tmp_path: Path
) -> None:
    asked = Transcript(events=(call(Message.of("user", "?"), SIGNS),))
    view = opened(write_report(write_run(tmp_path, [(row("graph", "1", "correct"), asked)])))
    reply = view.shown("graph", "1").locator(".answered.rendered")
    signs = ["U+202E", "U+200B", "U+2066", "U+0000", "U+202E"]
    assert reply.locator(".sign").all_inner_texts() == signs


FORMULAS = {
    r"\frac{a}{2}": "a2", "$$x^2$$": "x2", "$x^2$": "x2", r"\[x^2\]": "x2", r"\(x^2\)": "x2",
    r"\theta-\lambda\le 2": "θ−λ≤2", r"\text{<b>}": "<b>", r"\boxed{x}": "x",
    r"\phantom{x}\color{white}{y}\hspace{99em}z": "xyz",
}  # fmt: skip
NO_FORMULAS = (
    r"\left( a", r"\frac{a", r"\sqrt{" * 300 + "}" * 300, "x_1_2", r"\begin{matrix}", r"\x" * 1_001,
    r"\href{javascript:1}{x}", r"\includegraphics{x.png}", r"\htmlData{a=b}{x}",
)  # fmt: skip


def test_answers_that_are_formulas_are_drawn_and_all_others_are_text(
    opened: Open, tmp_path: Path
) -> None:
    texts = [*FORMULAS, *NO_FORMULAS]
    rows = [
        (row("graph", f"{number:02}", "correct", answer=text, target="x"), None)
        for number, text in enumerate(texts)
    ]
    view = opened(write_report(write_run(tmp_path, rows)))
    for number, text in enumerate(texts):
        panel = view.shown("graph", f"{number:02}").locator(".panel").first
        drawn = panel.locator("math").all_text_contents()
        assert drawn == ([FORMULAS[text]] if text in FORMULAS and "\\" in text else []), text
        assert panel.locator(".box").inner_text() == text
        assert outside(view.page) == []


OUTSIDE = """
([elements, math, attributes]) => [...document.querySelectorAll('#sample *')].flatMap((one) => {
  const list = one.namespaceURI.endsWith('MathML') ? math : elements;
  const names = [...one.attributes].map(({ name }) => name);
  const wrong = names.filter((name) => !attributes.includes(name));
  return [...(list.includes(one.localName) ? [] : [one.localName]), ...wrong];
})
"""
