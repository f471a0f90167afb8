"""The published mode: the public metric, quirk by quirk."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import sympy

from pytest_llmeval.scoring.eed import EED_PUBLISHED, eed_score
from pytest_llmeval.scoring.eed.published.text import CleanUpFailed, clean_up

CASES = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case['answer']} / {case['target']}" for case in CASES]
)
def test_the_published_score_is_reproduced(case: dict[str, Any]) -> None:
    result = eed_score(case["answer"], case["target"], mode="published")
    assert result.score == pytest.approx(case["score"]), case["why"]
    assert result.grader == EED_PUBLISHED


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (r"\boxed{x+1}", "x+1"),
        (r"F = m a", "m a"),
        (r"x \approx 3.0", "approx 3.0"),
        (r"2\left(a+b\right)", "left(a+b)"),
        (r"\sin^2{x}+y", "x"),
        (r"\frac12 + \frac\pi2", r"\frac{1}{2} + \frac{\pi}{2}"),
        (r"x^\frac{1}{2}.", r"x^{\frac{1}{2}}"),
        (r"a \times b", r"a \bar{times} b"),
        (r"\epsilon_0 I", r"\varepsilon_0 \bar{I}"),
        (r"m_e e_0", r"m_{e} \bar{e}_0"),
        (r"a \pm b \mp c", "a + b - c"),
        (r"v_+ + v_-", "v_p + v_m"),
        (r"\vec E \cdot \vec{r_{0}}", r"\vec{E} \cdot \vec{r}_{0}"),
        (r"\hat{x}\quad\text{where}", "x"),
        (r"\{a\}", "(a)"),
        ("a,b", "ab"),
    ],
)
def test_the_clean_up_keeps_the_quirks(text: str, cleaned: str) -> None:
    assert clean_up(text) == cleaned


def test_a_wrapper_used_twice_fails_as_in_the_reference() -> None:
    with pytest.raises(CleanUpFailed, match="more than once"):
        clean_up(r"\mathbf{a}\cdot\mathbf{b}")


def test_gamma_is_a_symbol_whatever_the_library_makes_of_it() -> None:
    # Versions from 1.11 on read \gamma as the gamma function or Euler's constant; here it is a name
    # like others.
    result = eed_score(r"\gamma x - \gamma vt", r"\gamma (x - vt)", mode="published")
    assert result.score == 100
    assert eed_score(r"\gamma-2", r"\gamma-1", mode="published").score == pytest.approx(
        60 - 100 / 3
    )


def test_the_library_is_one_that_the_conformance_pairs_were_run_with() -> None:
    # Another version may read LaTeX in another way: run tests/scoring/eed/test_eed_conformance.py
    # with LLMEVAL_ALL_PAIRS=1, name the version here and widen the pin in pyproject.toml.
    assert version("latex2sympy2_extended") in {"1.10.2", "1.11.0"}
    assert sympy.__version__.rpartition(".")[0] in {"1.13", "1.14"}


@pytest.mark.parametrize(
    ("answer", "target", "score"),
    [
        # Where 1.10.2 and 1.11.0 differ: the gamma function, Euler's constant, the wrapper round a
        # percent sign.
        (r"2\gamma x", r"\gamma x", 60 - 100 / 3),
        (r"\Gamma(x+1)", r"\Gamma(x-1)", 60 - 100 / 5),
        (r"50\% x", r"25\% x", 60 - 100 / 3),
        (r"\frac{50\% x}{y}", r"\frac{x}{2y}", 100),
    ],
)
def test_what_the_versions_read_differently_scores_alike(
    answer: str, target: str, score: float
) -> None:
    assert eed_score(answer, target, mode="published").score == pytest.approx(score)
