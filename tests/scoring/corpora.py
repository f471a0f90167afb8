"""What the tests of the scorers share: their corpora, and one way to score."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.records import Sample, Score
from pytest_llmeval.scoring.scorer import Scorer

MEGABYTE = 1_000_000


def scored(scorer: Scorer, answer: str | None, target: str) -> Score:
    """Check the target as at collection, then score."""
    scorer.check(target)
    return scorer.score(answer, Sample(id="1", input="", target=target), None)


def corpus(name: str) -> list[Any]:
    """Return the cases of a data file; an id is the case's number and reason."""
    file = Path(__file__).parent / "data" / f"{name}.yaml"
    cases = yaml.safe_load(file.read_text("utf-8"))
    return [
        pytest.param(case, id=f"{number}-{case['why']}".replace(" ", "-"))
        for number, case in enumerate(cases)
    ]


def templates(name: str) -> list[str]:
    """Return the statements of a data file, in which ``@`` is the place of the answer."""
    file = Path(__file__).parent / "data" / "statements.yaml"
    found: list[str] = yaml.safe_load(file.read_text("utf-8"))[name]
    return found


def language_cases(language: str, section: str) -> list[Any]:
    """Return a section of a language's ``cases.yaml``; an id is the case's text, or its two."""
    return [pytest.param(case, id=case_name(case)) for case in language_sections(language)[section]]


@cache
def language_sections(language: str) -> dict[str, list[dict[str, Any]]]:
    """Return the cases of tests/scoring/LANGUAGE/cases.yaml by their sections."""
    file = Path(__file__).parent / language / "cases.yaml"
    found: dict[str, list[dict[str, Any]]] = yaml.safe_load(file.read_text("utf-8"))
    return found


def case_name(case: dict[str, Any]) -> str:
    """Return the text of a language's case, or its two, in ASCII."""
    return ascii(case.get("text", f"{case.get('a')} ~ {case.get('b')}"))[1:-1] or "empty"
