"""The scorer `choice`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring.corpora import MEGABYTE, corpus, scored, templates

from pytest_llmeval.scoring.choice import Choice
from pytest_llmeval.scoring.last_line_letter import letter_of_last_line
from pytest_llmeval.scoring.letters import ALL_LETTERS, stated_letter

GEOMETRY = Path(__file__).parents[2] / "fixtures" / "geometry3k"

TEMPLATES: list[str] = templates("choice")
PAIRS = st.lists(st.sampled_from("ABCDEFGH"), min_size=2, max_size=2, unique=True)

HOSTILE = {
    "letters": "A " * (MEGABYTE // 2),
    "statements": "the answer is " * (MEGABYTE // 14),
    "options": "option " * (MEGABYTE // 7),
    "fillers": "the answer is " + "the " * (MEGABYTE // 4),
    "to-this": "answer to this " * (MEGABYTE // 15),
    "blanks": "answer" + " " * MEGABYTE + "B",
    "commas": "A," * (MEGABYTE // 2),
    "dollars": "$" * MEGABYTE,
    "fonts": "\\text{" * (MEGABYTE // 6),
    "stars": "*a" * (MEGABYTE // 2),
    "tags": "<" * MEGABYTE,
    "boxes": "\\boxed{B}" * (MEGABYTE // 9),
    "quotes": "'a" * (MEGABYTE // 2),
    "leads": "so " * (MEGABYTE // 3),
    "no": "the answer is B" + " no" * (MEGABYTE // 3),
    "maybe": "the answer is B or " + "maybe " * (MEGABYTE // 6),
    "letters-behind": "the answer is B. " + "A is " * (MEGABYTE // 5),
    "blanks-behind": "the answer is B. it" + " " * MEGABYTE + "x",
    "lines-behind": "the answer is C\n" + "D\n" * (MEGABYTE // 2),
    "dots-behind": "the answer is B" + "." * MEGABYTE,
    "commas-behind": "the answer is B" + ", " * (MEGABYTE // 2),
    "cautious": "i think it's " * (MEGABYTE // 13),
    "boxes-with-blanks": "\\boxed{ " * (MEGABYTE // 8),
}


@pytest.mark.parametrize("case", corpus("choice"))
def test_letters_are_read_in_the_forms_that_models_write(case: dict[str, Any]) -> None:
    score = scored(Choice(**case.get("options", {})), case["answer"], case["target"])
    assert score.correct is case["expected"], score.explanation


@given(st.sampled_from(TEMPLATES), st.sampled_from("ABCDEFGH"), st.sampled_from("ABCDEFGH"))
def test_the_stated_letter_is_correct_in_every_template_and_no_other_is(
    template: str, stated: str, target: str
) -> None:
    if stated == "A" and template == "@: 60":  # "A:" may mean "Answer:"
        return
    answer = template.replace("@", stated)
    assert scored(Choice(), answer, target).correct is (stated == target)


def sentence(template: str, letter: str) -> str:
    """Return a statement of `letter` that ends with a sign, so that a sentence may follow."""
    statement = template.replace("@", letter)
    return statement if statement.endswith((".", "!")) else f"{statement}."


@pytest.mark.parametrize("retraction", templates("retractions"))
@given(pair=PAIRS, gap=st.sampled_from([" ", "\n", "\n\n"]))
@settings(max_examples=5)
def test_a_statement_that_is_taken_back_states_neither_letter(
    retraction: str, pair: list[str], gap: str
) -> None:
    stated, other = pair
    for template in TEMPLATES:
        if stated == "A" and template == "@: 60":  # "A:" may mean "Answer:"
            continue
        answer = sentence(template, stated) + gap + retraction.replace("@", other)
        assert stated_letter(answer, ALL_LETTERS) is None, answer


@pytest.mark.parametrize("retraction", templates("retractions"))
@given(pair=PAIRS)
@settings(max_examples=2)
def test_a_full_statement_behind_a_retraction_stands(retraction: str, pair: list[str]) -> None:
    stated, other = pair
    for template in TEMPLATES:
        taken_back = f"{sentence(template, stated)} {retraction.replace('@', other)}\n"
        assert stated_letter(f"{taken_back}The answer is {stated}.", ALL_LETTERS) == stated
        assert stated_letter(f"{taken_back}The answer is {other}.", ALL_LETTERS) in {other, None}


@pytest.mark.parametrize("discussion", templates("discussions"))
@given(pair=PAIRS)
@settings(max_examples=5)
def test_other_letters_that_are_only_discussed_change_nothing(
    discussion: str, pair: list[str]
) -> None:
    stated, other = pair
    for template in TEMPLATES:
        if stated == "A" and template == "@: 60":  # "A:" may mean "Answer:"
            continue
        answer = f"{template.replace('@', stated)}\n\n{discussion.replace('@', other)}"
        assert stated_letter(answer, "ABCDEFGH") == stated, answer


@given(st.text())
def test_no_text_is_an_error(text: str) -> None:
    assert scored(Choice(), text, "B").correct in {True, False}


@given(st.text("AB().: *answeri\n\\boxed{}", max_size=40))
def test_what_the_strict_rule_reads_the_scorer_reads_alike(text: str) -> None:
    strict = letter_of_last_line(text)
    if strict is not None:
        assert stated_letter(text, ALL_LETTERS) in {strict, None}


def test_a_letter_is_read_as_itself() -> None:
    for letter in ALL_LETTERS:
        assert scored(Choice(letters="A-Z"), letter, letter).correct


def asked(problem: dict[str, Any]) -> str:
    """Return how the prompt of a problem begins."""
    listed = "".join(
        f"{letter}. {one}\n" for letter, one in zip("ABCD", problem["choices"], strict=True)
    )
    return f"{problem['problem_text'].replace('<image>', '')}\n\nChoices:\n{listed}"


def test_the_recorded_replies_are_scored_as_by_their_rule_and_equality() -> None:
    problems = json.loads((GEOMETRY / "choices.json").read_text("utf-8"))
    outcomes = []
    for line in (GEOMETRY / "replies.jsonl").read_text("utf-8").splitlines():
        recorded = json.loads(line)
        parts = recorded["content"]["messages"][0]["parts"]
        prompt = "".join(part.get("text", "") for part in parts)
        if "Choices:" not in prompt:
            continue
        (problem,) = (one for one in problems if prompt.startswith(asked(one)))
        text = recorded["reply"]["text"]
        rule = letter_of_last_line(text)
        before = rule == problem["answer"]
        assert scored(Choice(), rule, problem["answer"]).correct is before
        assert scored(Choice(), text, problem["answer"]).correct is before
        outcomes.append(before)
    assert (len(outcomes), outcomes.count(True)) == (34, 23)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", list(HOSTILE.values()), ids=list(HOSTILE))
def test_a_megabyte_of_malice_is_read_in_linear_time(text: str) -> None:
    assert scored(Choice(), text, "C").correct is False


@pytest.mark.parametrize("letters", ["", "A", "D-A", "a-d", 0, 27, "A-"])
def test_letters_that_name_no_range_are_refused(letters: str | int) -> None:
    with pytest.raises(ValueError, match="neither a range such as A-D nor a number"):
        Choice(letters=letters)


@pytest.mark.parametrize("target", ["", "AB", "60", "E"])
def test_a_target_that_is_no_letter_of_a_choice_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="not one of the letters A, B, C, D"):
        Choice(letters=4).check(target)
