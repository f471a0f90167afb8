"""What programs return, as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.domains.heracles.result_text import result_text
from pytest_llmeval.domains.heracles.scene_object import Attributes, NodeSymbol, SceneGraphNode
from pytest_llmeval.scoring.sldp import sldp_equals

NODE = SceneGraphNode(NodeSymbol("R", 1), "ROOMS", Attributes())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12, "12"),
        (0.1 + 0.2, "0.3"),
        (np.float64(2.5), "2.5"),
        (np.int64(3), "3"),
        (np.bool_(True), "True"),
        (None, "None"),
        ("chair", "chair"),
        ("trash can", '"trash can"'),
        ('a "b"', '"a \\"b\\""'),
        (NodeSymbol("O", 12), "O12"),
        (NODE, "R1"),
        (np.array([1.5, 2.25, -3.0]), "POINT(1.5 2.25 -3.0)"),
        (np.array([1, 2, 3]), "[1, 2, 3]"),
        (np.array([[1.0, 2.0]]), "[[1.0, 2.0]]"),
        ((1, "a"), "[1, a]"),
        (set(), "<>"),
        ({NodeSymbol("O", 10), NodeSymbol("O", 2)}, "<O2, O10>"),
        (frozenset({"b", "a"}), "<a, b>"),
        ({"O" + "2" * 5_000, "O" + "1" * 5_000}, f"<O{'1' * 5_000}, O{'2' * 5_000}>"),
        ({NODE: {NODE}}, "{R1: <R1>}"),
        ({}.keys(), "<>"),
    ],
)
def test_a_value_reads_as_the_answers_do(value: object, text: str) -> None:
    assert result_text(value) == text


VALUES: Any = st.recursive(
    st.integers(-(10**6), 10**6) | st.text(min_size=1, max_size=5).filter(str.isidentifier),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.integers(0, 99), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_result_could_be_the_answer(value: object) -> None:
    text = result_text(value)
    assert sldp_equals(text, text)


def test_what_holds_itself_is_an_error() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(RecursionError):
        result_text(value)
