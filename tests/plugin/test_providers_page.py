"""The page docs/providers.md: its provider is installed and asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from servers.installing import install_provider

if TYPE_CHECKING:
    from plugin.conftest import Project

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
TWO = ["-n2", "--llmeval-limit", "2"]


@pytest.fixture(autouse=True)
def acme(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the page's package."""
    files = dict(re.findall(r"```\w+\n# acme/(\S+)\n(.*?)```", PAGE, re.DOTALL))
    (version,) = re.findall(r'version = "(.+)"', files["pyproject.toml"])
    ((name, value),) = re.findall(r'(\w+) = "(llmeval_acme:\w+)"', files["pyproject.toml"])
    install_provider(
        project.path / "site", "acme", version, files["llmeval_acme.py"], f"{name} = {value}"
    )
    monkeypatch.setenv("PYTHONPATH", str(project.path / "site"))
    monkeypatch.delenv("ACME_API_KEY", raising=False)


def test_the_pages_provider_answers_and_counts_like_any_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACME_API_KEY", "acme-key-123")
    project.write("prices.yaml", "acme/loud: {input: 1000000, output: 0}\n")
    prices = ["--llmeval-prices", "prices.yaml", "--llmeval-budget", "100usd"]
    model = "acme/loud,temperature=0.5"
    result = project.run("--llmeval-model", model, *TWO, *prices)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*engine: 2 requests*"])
    rows = project.rows()
    assert [(row["answer"], row["model"]) for row in rows] == [
        ("Q: WHAT IS 0+1", model),
        ("Q: WHAT IS 1+1", model),
    ]
    assert [row["usage"]["cost"] for row in rows] == [14, 14]
    (call, *_) = project.transcripts()[0]["events"]
    assert call["asked"]["parameters"] == {"temperature": 0.5}
    assert call["reply"]["model"] == "loud-2026"
    assert call["reply"]["created"] > 0


def test_what_the_providers_opener_misses_is_told_once(project: Project) -> None:
    result = project.run("--llmeval-model", "acme/loud", *TWO)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*UsageError: acme/loud: no key; set ACME_API_KEY"])
    assert sorted(project.outcomes().values()) == ["error", "not run"]


def test_an_unknown_name_lists_the_providers_that_are_there(project: Project) -> None:
    result = project.run("--llmeval-model", "acne/loud")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    known = "expected one of openai/NAME, *, acme/NAME (llmeval-acme 1.2)"
    result.stderr.fnmatch_lines([f"*unknown model spec 'acne/loud'; {known}"])
