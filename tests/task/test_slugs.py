"""Slugs of ids and tags."""

from __future__ import annotations

import re

import pytest

from pytest_llmeval.task.slugs import MAX_LENGTH, id_slugs, slug


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OPTICS", "optics"),
        ("Graph Theory / trees", "graph-theory-trees"),
        ("12A", "12a"),
        ("--a__b--", "a-b"),
        ("Crème brûlée", "creme-brulee"),
        ("Straße", "strasse"),
        ("x²", "x2"),
        ("a::b[0]", "a-b-0"),
        ("7", "7"),
    ],
)
def test_slugs_keep_what_ascii_can_say(text: str, expected: str) -> None:
    assert slug(text) == expected


@pytest.mark.parametrize(
    "text", ["π", "α1", "光学", "", "?", "\ud800", "x" * 500, "a\u0000b", "👍 ok"]
)
def test_every_text_has_a_slug_of_small_letters_digits_and_hyphens(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(text))
    assert len(slug(text)) <= MAX_LENGTH + 7


@pytest.mark.parametrize(
    ("one", "other"), [("α1", "β1"), ("光学", "力学"), ("x" * 100, "x" * 101), ("?", "!")]
)
def test_texts_that_ascii_cannot_tell_apart_differ_in_their_hash(one: str, other: str) -> None:
    assert slug(one) != slug(other)


def test_whole_numbers_are_padded_and_other_ids_are_not() -> None:
    assert id_slugs(["7", "134", "12345", "12A", "-5"]) == ("0007", "0134", "12345", "12a", "5")


def test_ids_that_share_a_slug_are_numbered_in_order() -> None:
    assert id_slugs(["a b", "A-B", "a_b", "c"]) == ("a-b", "a-b-2", "a-b-3", "c")
    assert id_slugs(["7", "0007", "07"]) == ("0007", "0007-2", "0007-3")


def test_a_number_passes_over_the_slug_that_another_id_has_by_itself() -> None:
    assert id_slugs(["a", "A", "a-2"]) == ("a", "a-3", "a-2")


def test_many_ids_with_one_slug_stay_distinct() -> None:
    ids = ["a" + sign * count for count in range(1, 60) for sign in "!?."]
    assert len(set(id_slugs(ids))) == len(ids)
