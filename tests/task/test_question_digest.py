"""The digest of what a sample asks: its input, and the bytes of its pictures."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Sample
from pytest_llmeval.task.question import question_digest


def sample(text: str, *images: Path, target: str = "t") -> Sample:
    return Sample(id="1", input=text, target=target, images=tuple(map(str, images)))


@given(one=st.text(), other=st.text())
def test_two_inputs_have_one_digest_only_if_they_are_equal(one: str, other: str) -> None:
    assert (question_digest(sample(one)) == question_digest(sample(other))) == (one == other)


def test_a_lone_surrogate_is_no_error() -> None:
    assert question_digest(sample("\ud800"))


def test_a_picture_counts_by_its_bytes_and_not_by_its_place(tmp_path: Path) -> None:
    one, same, other = (tmp_path / name for name in ("one.png", "same.png", "other.png"))
    one.write_bytes(b"picture")
    same.write_bytes(b"picture")
    other.write_bytes(b"another")
    asked = question_digest(sample("x?", one))
    assert asked == question_digest(sample("x?", same))
    assert asked == question_digest(sample("x?", one, target="else"))
    assert asked not in {
        question_digest(other_one)
        for other_one in (
            sample("x?"),
            sample("x?", other),
            sample("x?", one, same),
            sample("y?", one),
        )
    }
    one.write_bytes(b"PICTURE, changed")
    assert asked != question_digest(sample("x?", one))


def test_the_order_of_pictures_counts(tmp_path: Path) -> None:
    one, other = tmp_path / "one.png", tmp_path / "other.png"
    one.write_bytes(b"picture")
    other.write_bytes(b"another")
    assert question_digest(sample("x?", one, other)) != question_digest(sample("x?", other, one))


def test_a_picture_that_is_gone_makes_the_question_unknown(tmp_path: Path) -> None:
    assert question_digest(sample("x?", tmp_path / "gone.png")) == ""
