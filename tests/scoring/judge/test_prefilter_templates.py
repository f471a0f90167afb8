"""Right and wrong answers in forty templates, over the targets of the public test set."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from pytest_llmeval.scoring.judge import decide_plainly

TEMPLATES: list[str] = yaml.safe_load(
    (Path(__file__).parent / "answer_templates.yaml").read_text("utf-8")
)

SLACK = 0.003
"""Numbers that differ by less, as a share, may be the same one rounded: neither right nor wrong."""


@cache
def value(latex: str) -> float | None:
    """Return the value of a target, computed without the package; None if it is no number."""
    text = latex.replace("\\sqrt 2", "\\sqrt{2}")
    text = re.sub(r"^(\d+) (?=\\frac)", r"\1 + ", text)  # a mixed number
    text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r" * math.sqrt(\1)", text)
    text = re.sub(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r" * ((1 \1) / (\2))", text)
    text = re.sub(r"\(\(1\s+(?=\d)", "((1 * ", text).replace("\\pi", " * math.pi")
    text = re.sub(r"^\s*\*|\+\s*\*", lambda lead: lead[0].replace("*", " "), text)
    try:
        return float(eval(text, {"math": math}))  # noqa: S307 - the reference data's own numbers
    except (SyntaxError, NameError, TypeError):
        return None


def renderings(target: str) -> Iterator[str]:
    """Yield right answers: the target in other notations, and its value."""
    yield target
    compact = re.sub(r"(?<=[{}])\s+|\s+(?=[{}\\])", "", target)
    yield compact
    yield compact.replace("frac", "dfrac").replace("\\sqrt", "\\cdot\\sqrt").removeprefix("\\cdot")
    yield re.sub(r"\\sqrt ?\{?(\d+)\}?", r"√\1", compact).replace("\\pi", "π")
    yield re.sub(r"\\sqrt ?\{?(\d+)\}?", r"*sqrt(\1)", compact).removeprefix("*")
    number = value(target)
    if number is not None:
        yield f"{number:.5f}" if number != int(number) else f"{number:.1f}"
        yield f"{number:,.12g}"


CHANGES: dict[str, Callable[[float], float]] = {
    "another": lambda number: number + 1,
    "twice": lambda number: 2 * number,
    "half": lambda number: number / 2,
    "a tenth": lambda number: number / 10,
    "cm for m": lambda number: 100 * number,
    "m for km": lambda number: number / 1000,
    "inches for feet": lambda number: 12 * number,
    "the supplement": lambda number: 180 - number,
    "the complement": lambda number: 90 - number,
    "the square": lambda number: number**2,
    "the root": math.sqrt,
    "times pi": lambda number: math.pi * number,
    "a little more": lambda number: 1.02 * number + 0.06,
    "the reciprocal": lambda number: 1 / number,
}


def mistakes(target: str, number: float) -> Iterator[str]:
    """Yield wrong answers to a target: its value changed, or its text."""
    for change in CHANGES.values():
        wrong = change(number)
        if abs(wrong - number) > SLACK * max(abs(wrong), abs(number)):
            yield f"{wrong:.4f}".rstrip("0").rstrip(".")
    yield f"-{target}"
    for place, digit in enumerate(target):
        if digit.isdigit():
            yield target[:place] + target[place + 1 :]
            yield target[:place] + str(9 - int(digit)) + target[place + 1 :]
    yield f"{target} \\pi"
    yield f"{target} \\sqrt{{2}}"
    yield f"\\frac{{{target}}}{{2}}"
    yield f"2{target}"
    if "\\sqrt" in target:
        yield target.replace("\\sqrt", "")
        yield re.sub(r"(\d+) \\sqrt \{ (\d+) \}", r"\2 \\sqrt { \1 }", target)
    if "\\pi" in target:
        yield target.replace("\\pi", "")


def wrong_answers(target: str, number: float) -> list[str]:
    """Return the mistakes that are another number, by the reading above, or none at all."""
    found = []
    for text in dict.fromkeys(mistakes(target, number)):
        got = value(text)
        if got is None or abs(got - number) > SLACK * max(abs(got), abs(number)):
            found.append(text)
    return found


@pytest.fixture(scope="module")
def targets(shared: Path) -> dict[str, float]:
    """Return the public targets that are numbers, with their values."""
    rows = json.loads((shared / "data/geometry3k/hiyouga_style_test_583.json").read_text("utf-8"))
    assert len(rows) == 583
    values = {row["answer"]: value(row["answer"]) for row in rows}
    numbers = {text: number for text, number in values.items() if number is not None}
    assert len(values) - len(numbers) == 3  # "A D and B E" and the like
    return numbers


def test_there_are_forty_templates() -> None:
    assert len(set(TEMPLATES)) == 40


def test_right_answers_are_never_decided_different(targets: dict[str, float]) -> None:
    decided: Counter[str] = Counter()
    for number, target in enumerate(targets):
        forms = list(dict.fromkeys(renderings(target)))
        for place, template in enumerate(TEMPLATES):
            reply = template.replace("@", forms[(number + place) % len(forms)])
            decision = decide_plainly(reply, target).decision
            assert decision != "different", (reply, target)
            decided[decision] += 1
    assert decided["equal"] / decided.total() > 0.5, decided


def test_wrong_answers_are_never_decided_equal(targets: dict[str, float]) -> None:
    decided: Counter[str] = Counter()
    for number, (target, size) in enumerate(targets.items()):
        wrong = wrong_answers(target, size)
        for place, template in enumerate(TEMPLATES):
            # One of each target in each template, so that every kind comes up many times.
            reply = template.replace("@", wrong[(number * 7 + place) % len(wrong)])
            decision = decide_plainly(reply, target).decision
            assert decision != "equal", (reply, target)
            decided[decision] += 1
    assert decided["different"] / decided.total() > 0.25, decided


def test_targets_that_are_no_numbers_are_left_to_the_judge(shared: Path) -> None:
    rows = json.loads((shared / "data/geometry3k/hiyouga_style_test_583.json").read_text("utf-8"))
    texts = {row["answer"] for row in rows if value(row["answer"]) is None}
    for text in texts:
        for template in TEMPLATES:
            assert decide_plainly(template.replace("@", text), text).decision == "undecided"
