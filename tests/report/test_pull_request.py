"""The summary for a pull request: verdict, what changed, results; within the limits of GitHub."""

from __future__ import annotations

import re

import pytest
from example_rows import eed, row
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from record_strategies import ROWS

from pytest_llmeval.records import Row
from pytest_llmeval.report.html import Against, Besides
from pytest_llmeval.report.pull_request import COMMENT, PullRequest
from pytest_llmeval.results.baseline import baseline_of
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.gate import Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.summarise import summarise

NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
HOSTILE = "@all <img src=x onerror=x> | [x](javascript:x) `c` </details><script>\n# head\u202e"


def made(before: list[Row], now: list[Row], **questions: str) -> PullRequest:
    """Return the summary of a run against another; `questions` by sample of the task demo."""
    summary = summarise(now, {})
    baseline = baseline_of("main", before, summarise(before, {}))
    against = Against(baseline=baseline, comparison=compare(before, now))
    return PullRequest(
        summary=summary,
        besides=Besides(gate=check(Gate(), summary), against=against),
        questions={("demo", sample.strip("q")): text for sample, text in questions.items()},
    )


def outcomes(letters: str, **fields: object) -> list[Row]:
    words = {"c": "correct", "i": "incorrect"}
    return [row(str(n), words[one], **fields) for n, one in enumerate(letters)]  # type: ignore[arg-type]


def test_verdict_then_what_changed_then_results_then_the_rest_folded() -> None:
    text = made(outcomes("ccccccii"), outcomes("iiccccci")).markdown(COMMENT)
    heads = ["## gate passed", "## What changed against main", "## Results", "<details>"]
    places = [text.index(head) for head in heads]
    assert places == sorted(places)
    assert places[0] == 0
    assert "**2 lost, 1 gained** of 8 samples" in text
    assert "| demo · openai/small | accuracy | 75.0 % | 62.5 % | -12.5 |" in text
    assert "| not significant |" in text
    assert text.index("2 lost**\n") < text.index("1 gained**\n")
    assert "- **0**: correct → incorrect" in text
    assert "- **6**: incorrect → correct" in text
    assert "| demo | openai/small | 62.5 % |" in text


def test_a_question_is_shown_as_far_as_it_is_known() -> None:
    text = made(outcomes("cc"), outcomes("ii"), q0="What is <b> of @you?").markdown(COMMENT)
    assert "- **0** · What is &lt;b&gt; of @\u2060you?: correct → incorrect" in text
    assert "- **1**: correct → incorrect" in text


def test_a_significant_drop_stands_first_and_is_called_so() -> None:
    before = [*outcomes("ci" * 20, task="same"), *outcomes("c" * 40, task="worse")]
    now = [*outcomes("ic" * 20, task="same"), *outcomes("i" * 20 + "c" * 20, task="worse")]
    text = made(before, now).markdown(COMMENT)
    lines = [line for line in text.splitlines() if "| accuracy |" in line and "→" not in line]
    assert "worse" in lines[0]
    assert "**significant drop**" in lines[0]
    assert "no change" in lines[1]


def test_epochs_are_told_by_the_share_that_is_correct() -> None:
    def epochs(*words: str) -> list[Row]:
        return [row("1", word, epoch=n) for n, word in enumerate(words, 1)]  # type: ignore[arg-type]

    text = made(epochs("correct", "correct"), epochs("correct", "incorrect")).markdown(COMMENT)
    assert "- **1**: correct → correct in 50.0 % of the epochs" in text


def test_runs_without_a_common_sample_are_said_to_be_no_comparison() -> None:
    text = made(outcomes("cc", task="one"), outcomes("cc", task="other")).markdown(COMMENT)
    assert "**Nothing could be compared:**" in text
    assert "2 of a task, test or model without a counterpart" in text


@pytest.mark.parametrize("limit", [COMMENT, 1_000_000])
def test_thousands_of_lost_samples_in_hundreds_of_tasks_stay_within_the_limit(limit: int) -> None:
    before = [row(str(n), task=f"task {m} @x", model=m_name(m)) for m in range(300) for n in (1, 2)]
    before += [row(HOSTILE + str(n), task="large") for n in range(2_000)]
    now = [replace(one, outcome="incorrect", scores=eed(3)) for one in before]
    text = made(before, now).markdown(limit)
    assert len(text.encode()) <= limit
    assert re.search(r"and [\d,]+ more samples", text)
    assert re.search(r"and [\d,]+ more differences", text)
    assert re.search(r"and [\d,]+ more tasks and models", text)
    assert ("Left out for want of room: " in text) == (limit == COMMENT)
    assert text.count("<details>") == text.count("</details>")


def m_name(number: int) -> str:
    return f"provider/{HOSTILE}{number}"


@given(
    before=st.lists(ROWS, max_size=8),
    now=st.lists(ROWS, max_size=8),
    question=st.text(max_size=200) | st.just(HOSTILE),
    limit=st.integers(0, 20_000),
)
@settings(max_examples=20, deadline=None, phases=NO_SHRINKING)
def test_any_runs_stay_within_any_limit_and_texts_stay_texts(
    before: list[Row], now: list[Row], question: str, limit: int
) -> None:
    hostile = [replace(one, model=HOSTILE, task=one.task + HOSTILE) for one in now]
    found = made(before + hostile[::2], [*now, *hostile])
    asked = {(one.task, one.sample): question for one in [*now, *hostile]}
    found = PullRequest(summary=found.summary, besides=found.besides, questions=asked)
    for size in (limit, COMMENT):
        text = found.markdown(size)
        assert len(text.encode("utf-8", "backslashreplace")) <= size
        assert set(re.findall(r"<[^>]*>", text)) <= {
            "<details>",
            "</details>",
            "<summary>",
            "</summary>",
        }
        assert not re.search(r"@\w", text)
        assert not re.search(r"(?<!\\)`|(?<!\\)\]\(", text)
        assert "\u202e" not in text
        heads = re.findall(r"^(#+ .*)$", text, re.MULTILINE)
        assert not any(head.startswith("# ") for head in heads)
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(cells) == 1
