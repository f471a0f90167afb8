"""The steps of a scoring as the command line shows them."""

from __future__ import annotations

from pytest_llmeval.scoring.eed import explain


def test_every_stage_is_shown() -> None:
    text = explain(r"x = 4 m g", r"\boxed{2 m g}")
    assert text.splitlines() == [
        "mode        corrected (eed-corrected/2)",
        "answer      x = 4 m g",
        "  cleaned     x=4mg",
        "  type        assignment",
        "  read        4*g*m",
        "  tree        Mul(4, g, m)",
        r"target      \boxed{2 m g}",
        "  cleaned     2mg",
        "  type        expression",
        "  read        2*g*m",
        "  tree        Mul(2, g, m)",
        "assumed     symbols are positive",
        "assumed     e is Euler's number",
        "assumed     log is the natural logarithm",
        "distance    1 of 4 nodes, 0.250 relative",
        "  relabel 4 -> 2 under Mul (1)",
        "score       35.00 of 100: coefficient, distance 1 of 4 nodes",
    ]


def test_the_published_clean_up_is_shown() -> None:
    text = explain(r"2\left(a+b\right)", r"3(a+b)", mode="published")
    assert "  cleaned     left(a+b)" in text
    assert "  tree        Add(Mul(3, a), Mul(3, b))" in text


def test_the_tree_of_the_answer_is_shown_in_the_order_in_which_it_is_compared() -> None:
    text = explain(r"\varphi\frac{z}{b}", r"\frac{a}{b}\phi")
    assert [line for line in text.splitlines() if line.startswith("  tree")] == [
        "  tree        Mul(z, phi, Pow(b, -1))",
        "  tree        Mul(a, phi, Pow(b, -1))",
    ]
    assert r"  cleaned     \varphi \frac {z}{b}" in text


def test_the_error_of_an_unreadable_formula_is_shown() -> None:
    text = explain(r"\nosuchcommand", "x")
    assert r"  refused     unknown command \nosuchcommand" in text
    assert "score       0.00 of 100: unreadable" in text
