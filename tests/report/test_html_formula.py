"""LaTeX to the lists that a page makes MathML of."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_llmeval.report.formula import LONGEST, mathml


def walk(tree: Any) -> Iterator[Any]:
    yield tree
    if isinstance(tree, list):
        yield from itertools.chain.from_iterable(walk(child) for child in tree[2:])


def names(latex: str) -> list[str]:
    return [node[0] for node in walk(mathml(latex)) if isinstance(node, list)]


def texts(latex: str) -> str:
    return "".join(node for node in walk(mathml(latex)) if isinstance(node, str))


def test_a_fraction_becomes_a_fraction() -> None:
    assert mathml(r"\frac{a}{2}") == [
        "math", {"display": "block"},
        ["mrow", {}, ["mfrac", {}, ["mrow", {}, ["mi", {}, "a"]], ["mrow", {}, ["mn", {}, "2"]]]],
    ]  # fmt: skip


@pytest.mark.parametrize("latex", ["$$x^2$$", "$x^2$", r"\[x^2\]", r"\(x^2\)", " x^2 "])
def test_the_signs_that_set_a_formula_off_are_no_part_of_it(latex: str) -> None:
    assert mathml(latex) == mathml("x^2")


def test_greek_letters_and_signs_are_themselves_and_no_entities() -> None:
    assert texts(r"\theta-\lambda\le 2") == "θ−λ≤2"
    assert texts(r"\text{&#x0003C;b>}") == "<b>"


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\color{white}{x}",
        r"\class{a}{x}",
        r"\phantom{x}",
        r"\boxed{x}",
        r"\hspace{999em}x",
        r"\Huge x",
    ],
)
def test_no_command_links_styles_hides_or_moves_anything(latex: str) -> None:
    assert "x" in texts(latex)
    for node in walk(mathml(latex)):
        if isinstance(node, list):
            assert node[0] not in {
                "mphantom",
                "mpadded",
                "menclose",
                "semantics",
                "annotation-xml",
                "maction",
            }
            assert set(node[1]) <= {"display", "displaystyle"}


@pytest.mark.parametrize(
    "latex",
    [
        "",
        "  ",
        r"\left( a",
        r"\frac{a",
        "{" * 500 + "x" + "}" * 500,
        "x" * (LONGEST + 1),
        r"\sqrt{" * 300 + "}" * 300,
        "x_1_2",
        r"\begin{matrix}",
    ],
)
def test_what_is_no_formula_or_too_large_has_no_mathml(latex: str) -> None:
    assert mathml(latex) is None


def test_elements_with_a_fixed_number_of_children_have_it() -> None:
    assert names(r"\sqrt[3]{x_1^2}").count("msubsup") == 1
