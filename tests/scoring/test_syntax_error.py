"""Syntax errors of SLDP and of goals in PDDL: position, what was found and expected, hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scoring.corpora import case_name, language_sections

from pytest_llmeval.scoring.pddl import PddlSyntaxError, parse_pddl
from pytest_llmeval.scoring.sldp import SldpSyntaxError, parse_sldp
from pytest_llmeval.scoring.syntax_error import AnswerSyntaxError

MISTAKES = [
    pytest.param(parse, kind, case, id=f"{language} {case_name(case)}")
    for language, parse, kind in (
        ("sldp", parse_sldp, SldpSyntaxError),
        ("pddl", parse_pddl, PddlSyntaxError),
    )
    for case in language_sections(language)["mistakes"]
]


@pytest.mark.parametrize(("parse", "kind", "mistake"), MISTAKES)
def test_a_syntax_error_has_its_position_and_hint(
    parse: Callable[[str], object], kind: type[AnswerSyntaxError], mistake: dict[str, Any]
) -> None:
    with pytest.raises(kind) as caught:
        parse(mistake["text"])
    error = caught.value
    found = {
        "line": error.line,
        "column": error.column,
        "found": error.found,
        "expected": error.expected,
    }
    assert found == {name: mistake[name] for name in found}
    assert mistake["hint"] in error.hint
    assert bool(mistake["hint"]) == bool(error.hint)
    assert str(error).startswith(
        f"line {error.line}, column {error.column}: found {error.found}, expected {error.expected}"
    )
    assert str(error).isprintable()
