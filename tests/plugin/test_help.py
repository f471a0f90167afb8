"""What ``pytest --help`` says of the options."""

from __future__ import annotations

import re

import pytest

COLUMNS = 100

OPTIONS = {
    "models": ["model", "judge", "concurrency", "sample-timeout", "seed"],
    "samples and tasks": [
        "epochs",
        "limit",
        "sample",
        "shard",
        "workers",
        "set",
        "graph",
        "sandbox",
    ],
    "cost and stored replies": ["budget", "prices", "batch", "estimate", "reuse", "keep", "resume"],
    "results": ["report", "traces", "baseline", "gate", "groups", "progress"],
}


@pytest.fixture
def text(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the help as a terminal of 100 columns shows it."""
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    return pytester.runpytest_subprocess("-p", "pytest_llmeval.plugin", "--help").stdout.str()


def test_each_option_stands_once_in_its_group(text: str) -> None:
    # A heading, and all that follows up to the next blank line.
    groups = dict(
        re.findall(r"^LLM benchmarks: ([^(\n]+?)(?: \(.*\))?:\n((?:.+\n)+)", text, re.MULTILINE)
    )
    named = {
        name: re.findall(r"^  --llmeval-([\w-]+)", lines, re.MULTILINE)
        for name, lines in groups.items()
    }
    assert named == OPTIONS
    assert len(re.findall(r"^ +--llmeval-", text, re.MULTILINE)) == sum(map(len, OPTIONS.values()))


def test_each_option_has_one_line_of_help(text: str) -> None:
    for name in (name for names in OPTIONS.values() for name in names):
        # On the option's own line, or on the next one if that is too long, and on no further one.
        shown = re.search(
            rf"^  --llmeval-{name}(?:[= ]\S+)?(?: +|\n {{24}})(\S.*)\n(?! {{24}})",
            text,
            re.MULTILINE,
        )
        assert shown, name
        assert len(shown[1]) <= COLUMNS - 24


def test_the_ini_keys_have_a_line_each(text: str) -> None:
    keys = re.findall(r"^  (llmeval_\w+) \(string\):(?: +|\n +)\S.*\n", text, re.MULTILINE)
    names = [f"llmeval_{name.replace('-', '_')}" for names in OPTIONS.values() for name in names]
    assert sorted(keys) == sorted(names)
