from __future__ import annotations

import re

import pytest
from example_rows import eed, row

from pytest_llmeval.report.markdown import escape, render_markdown
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import TaskInfo

HOSTILE = (
    "a | b <img src=x onerror=alert(1)> [click](javascript:x) `code` **bold** @someone "
    "https://evil.example www.evil.example\n# head"
)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("openai/gpt-5.1", "openai/gpt-5.1"),
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("<b>&amp;</b>", "&lt;b&gt;&amp;amp;&lt;/b&gt;"),
        ("[x](y) ![z]", r"\[x\](y) \!\[z\]"),
        ("*a* _b_ `c` ~d~ $e$", r"\*a\* \_b\_ \`c\` \~d\~ \$e\$"),
        ("https://x", r"https\://x"),
        ("WWW.x", r"WWW\.x"),
        ("@all", "@\u2060all"),
        ("gate: 2 of 3", "gate: 2 of 3"),
    ],
)
def test_text_is_shown_as_it_is(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def test_hostile_names_break_neither_the_table_nor_out_of_it() -> None:
    rows = [
        row(str(i), model=f"{HOSTILE}{i}", groups={"tag": (HOSTILE,)}, scores=eed(30))
        for i in range(2)
    ]
    info = TaskInfo(title=HOSTILE, group_by=("tag",))
    text = render_markdown(summarise(rows, {"demo": info}))
    assert "<img" not in text
    assert "](" not in text.replace(r"\](", "")
    assert not re.search(r"^# head", text, re.MULTILINE)
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 2
    for lines in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_the_markdown_holds_the_figures_of_the_table_and_the_gates_verdict() -> None:
    rows = [
        row("1", scores=eed(100, 80)),
        row("2", "incorrect", scores=eed(50, 0)),
        row("3", "error"),
    ]
    summary = summarise(rows, {"demo": TaskInfo(title="demo", demo=True)})
    text = render_markdown(summary, check(Gate(), summary))
    assert "## gate not passed: 1 of 3 rules" in text
    assert "## demo (demo data) · openai/small" in text
    assert "| all | 50.0 % | 9.5–90.5 | 2 of 3 | 75.0 |" in text
    assert "| 40.0 | 1 | 1 | 1 | 0 | 0 |" in text


def test_where_the_answers_came_from_stands_first() -> None:
    text = render_markdown(summarise([row("1", recorded=True)], {}))
    assert text.startswith("# Results\n\n> Recorded replies ran; no live model did.\n")
