"""Two scores have one grader exactly if the same rules, options and models decided."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.domains.phybench.taxonomy_scorer import TaxonomyScorer
from pytest_llmeval.records import Completion, Json, Sample, Score
from pytest_llmeval.scoring import grader as grader_module
from pytest_llmeval.scoring.eed.scorer import EedScorer
from pytest_llmeval.scoring.exact import Exact
from pytest_llmeval.scoring.function import FunctionScorer
from pytest_llmeval.scoring.grader import NO_JUDGE, grader_text, panel_of, rules_of
from pytest_llmeval.scoring.includes import Includes
from pytest_llmeval.scoring.json_schema import JsonSchema
from pytest_llmeval.scoring.judge import built_in_prompt
from pytest_llmeval.scoring.judge import scorer as judge_module
from pytest_llmeval.scoring.judge.question import question_digest
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.number import Number
from pytest_llmeval.scoring.regex import Regex
from pytest_llmeval.scoring.scorer import Scorer, ScorerContext
from pytest_llmeval.scoring.sldp.scorer import SldpScorer


def likeness(answer: str | None, sample: Sample, *, least: float = 0.5, of: str = "words") -> bool:
    return bool(answer) and least > 0 and bool(of) and bool(sample)


@dataclass(frozen=True)
class Own:
    """A stranger's scorer, whose option is any JSON."""

    option: Any = None
    name: str = "own"
    grader, scale = "own/1", 1.0

    def check(self, target: str) -> None: ...
    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:
        raise NotImplementedError


@dataclass(frozen=True)
class OwnJudge(Own):
    """A stranger's scorer that asks models, in an order that may mean something."""

    models: tuple[str, ...] = ()
    only_incorrect: bool = False

    async def prepare(
        self, sample: Sample, completion: Completion, context: ScorerContext
    ) -> Json: ...


TOLERANCES = st.sampled_from([0.0, 0.01, 0.1, 1.0, 1e-15])
# Texts that could be read as other values, as further options, or as the end of the options.
TEXTS = st.sampled_from(
    ["a", "1", "1.0", "true", "null", "", " ", "a b=1", '"', '"a"', "#12345678", " by openai/a"]
) | st.text(max_size=70)
VALUES = TEXTS | st.integers(-1, 2) | st.booleans() | st.none() | st.lists(TEXTS, max_size=2)
MODELS = st.lists(
    st.sampled_from(["openai/a", "openai/b", "openai/a,temperature=1", "x y", "+", NO_JUDGE, '"']),
    unique=True,
    max_size=3,
)
KINDS: tuple[st.SearchStrategy[Scorer], ...] = (
    st.builds(
        EedScorer,
        mode=st.sampled_from(["corrected", "published"]),
        minimum=st.sampled_from([100, 100.0, 30.0]),
    ),
    st.builds(JudgeScorer, votes=st.integers(1, 3), prefilter=st.booleans()),
    st.builds(SldpScorer, tolerance=TOLERANCES, case_sensitive=st.booleans()),
    st.builds(Number, absolute=TOLERANCES, relative=TOLERANCES),
    st.builds(Regex, pattern=st.sampled_from([None, "null", "a b", "a=1"]), full=st.booleans()),
    st.builds(Exact, ignore_case=st.booleans(), ignore_punctuation=st.booleans()),
    st.builds(Includes, ignore_case=st.booleans(), whole_word=st.booleans()),
    st.just(TaxonomyScorer()),
    st.builds(Own, option=VALUES),
    st.builds(OwnJudge, option=VALUES),
    st.builds(
        lambda **options: FunctionScorer(
            function=likeness, name="likeness", grader="./own.py:likeness", options=options
        ),
        least=TOLERANCES,
        of=TEXTS,
    ),
)
SCORERS = st.one_of(KINDS)


def configuration(scorer: Scorer, models: list[str]) -> object:
    """Return what decides, as the scorers' documentation says."""
    match scorer:
        case JudgeScorer():
            return scorer, sorted(models)
        case TaxonomyScorer():
            return scorer, models[:1]
        case OwnJudge():
            return "own judge", _typed(scorer.option), models
        case Own():
            return "own", _typed(scorer.option)
        case FunctionScorer():
            return "function", sorted(scorer.options.items())
        case _:
            return scorer


def _typed(value: Any) -> object:
    """Return a value in a form in which True is not 1."""
    return json.dumps(value)


@given(SCORERS, MODELS, SCORERS, MODELS)
def test_graders_are_equal_exactly_if_configurations_are(
    a: Scorer, models_a: list[str], b: Scorer, models_b: list[str]
) -> None:
    equal = configuration(a, models_a) == configuration(b, models_b)
    assert (grader_text(a, models_a) == grader_text(b, models_b)) is equal


@given(st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(kind, kind)), MODELS)
def test_of_one_kind_of_scorer_each_option_counts(
    pair: tuple[Scorer, Scorer], models: list[str]
) -> None:
    a, b = pair
    equal = configuration(a, models) == configuration(b, models)
    assert (grader_text(a, models) == grader_text(b, models)) is equal


@given(VALUES, MODELS)
def test_rules_and_panel_are_found_in_a_text_whatever_its_options(
    option: Any, models: list[str]
) -> None:
    text = grader_text(OwnJudge(option=option), models)
    panel = panel_of(grader_text(OwnJudge(), models))
    assert panel_of(text) == panel
    assert rules_of(text) == f"own/1 by {panel}"


def test_a_judges_grader_reads_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_module, "PREFILTER_VERSION", "prefilter/9")
    judge = JudgeScorer(votes=3)
    words = "judge/1 prompt 00895f1b"
    assert grader_text(judge, ["openai/b", "openai/a"]) == (
        f"{words} prefilter/9 votes=3 by openai/a + openai/b"
    )
    off = replace(judge, prefilter=False)
    assert grader_text(off) == f"{words} no prefilter votes=3 by no judge"
    assert grader_text(SldpScorer()) == "sldp/1 tolerance=0.01 case_sensitive=false"


def test_the_prompts_digest_changes_with_its_words_and_parameters() -> None:
    asked, sample = built_in_prompt(), Sample(id="", input="p", target="t")
    messages, parameters = asked.messages(sample, "c"), asked.parameters
    same = question_digest(messages, parameters)
    assert same == question_digest(asked.messages(sample, "c"), dict(parameters))
    assert same != question_digest(asked.messages(sample, "d"), parameters)
    assert same != question_digest(messages, {**parameters, "temperature": 1})


def test_a_schema_counts_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"type": "object"}')
    inline = grader_text(JsonSchema(schema={"type": "object"}))
    assert grader_text(JsonSchema(schema=file)) == inline
    file.write_text('{"type": "array"}')
    assert grader_text(JsonSchema(schema=file)) != inline


def test_a_file_of_a_strangers_counts_by_its_content(tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("words")
    two.write_text("words")
    first = grader_text(Own(option=one))
    assert first == grader_text(Own(option=two))
    one.write_text("other words")
    assert grader_text(Own(option=one)) != first


def test_an_option_without_an_attribute_counts_as_the_task_declares_it() -> None:
    class Hidden(Own):
        def __init__(self, *, secret: int = 1) -> None:
            object.__setattr__(self, "_secret", secret)

    texts = {grader_text(Hidden(), declared=given) for given in ({"secret": 1}, {"secret": 2}, {})}
    assert len(texts) == 3


def test_another_process_has_the_same_texts() -> None:
    """Also where sets and objects have another order and other addresses."""
    code = (
        "from pytest_llmeval.scoring.grader import grader_text\n"
        "from pytest_llmeval.scoring.judge.scorer import JudgeScorer\n"
        "from pytest_llmeval.scoring.grader import digest\n"
        "print(grader_text(JudgeScorer(), ['b', 'a']), "
        "digest({'b', 'a', object}), digest(object()))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    expected = (
        grader_text(JudgeScorer(), ["b", "a"]),
        grader_module.digest({"b", "a", object}),
        grader_module.digest(object()),
    )
    assert printed == {" ".join(expected) + "\n"}
