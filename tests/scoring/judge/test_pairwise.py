"""The scale ``pairwise``: the candidate against the target, shown in both orders."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.judge.judges import Judges

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Completion, Json, Message, Reply, Role, Sample, Score
from pytest_llmeval.scoring.judge.making import judge_scorer
from pytest_llmeval.scoring.judge.prompt import built_in_prompt
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.scorer import ScorerContext
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.spec import Spec

Prefers = Callable[[str, str], str]
"""What a judge replies about reply A and reply B: A, B or tie."""

COMPARISON = judge_scorer(prompt=built_in_prompt("comparison"))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
WORTH = {"win": 1.0, "tie": 0.5, "loss": 0.0}


class Readers(Judges):
    """Judges that read both replies where the fences stand."""

    def __init__(self, *prefers: Prefers) -> None:
        """Let each judge reply what its function says."""
        super().__init__({f"judge{number}": lambda _: "" for number in range(len(prefers))})
        self._prefers = dict(zip(self.does, prefers, strict=True))

    async def generate(  # noqa: PLR0913 - the port's
        self,
        messages: Sequence[Message],
        *,
        model: str,
        stage: str,  # noqa: ARG002 - the port's
        role: Role = "judge",  # noqa: ARG002 - the port's
        draw: int = 0,  # noqa: ARG002 - the port's
        parameters: Mapping[str, Json] | None = None,  # noqa: ARG002 - the port's
    ) -> Reply:
        reply_a, reply_b = shown(messages[-1].text)
        better = self._prefers[model](reply_a, reply_b)
        return Reply(text=json.dumps({"reason": f"{better}.", "better": better}))

    def branch(self) -> Readers:
        return self

    def join(self, branches: Sequence[Judges]) -> None:
        pass


def shown(question: str) -> tuple[str, str]:
    """Return the texts between the fences of reply A and reply B."""
    (digest,) = set(re.findall(r"^REPLY-A-([0-9a-f]{64})$", question, re.MULTILINE))
    parts = [question.split(f"\nREPLY-{name}-{digest}\n") for name in "AB"]
    assert [len(part) for part in parts] == [3, 3]
    return parts[0][1], parts[1][1]


def scored(
    target: str, candidate: str, *prefers: Prefers, scorer: JudgeScorer = COMPARISON
) -> Score:
    sample = Sample(id="1", input="What is a heap?", target=target)
    context = cast("ScorerContext", Readers(*prefers))
    completion = Completion(text=candidate, answer=candidate)
    return scorer.score(candidate, sample, asyncio.run(scorer.prepare(sample, completion, context)))


def longer(reply_a: str, reply_b: str) -> str:
    if len(reply_a) == len(reply_b):
        return "tie"
    return "A" if len(reply_a) > len(reply_b) else "B"


@given(TEXTS, TEXTS.filter(str.strip))
def test_a_reply_that_is_better_in_both_orders_wins(target: str, candidate: str) -> None:
    found = scored(target, candidate, longer)
    difference = len(candidate) - len(target)
    assert found.details["label"] == ("win" if difference > 0 else "loss" if difference else "tie")
    assert found.value == WORTH[str(found.details["label"])]


@given(TEXTS, TEXTS.filter(str.strip), st.sampled_from(["A", "B"]))
def test_a_judge_that_prefers_a_place_finds_nothing_but_ties(
    target: str, candidate: str, place: str
) -> None:
    found = scored(target, candidate, lambda _, __: place)
    assert (found.value, found.correct, found.details["label"]) == (0.5, True, "tie")
    assert "As reply B" in found.explanation


@pytest.mark.parametrize("first", ["A", "B", "tie"])
@pytest.mark.parametrize("second", ["A", "B", "tie"])
def test_anything_but_one_side_in_both_orders_is_a_tie(first: str, second: str) -> None:
    replies = itertools.cycle([first, second])
    found = scored("theirs", "ours", lambda _, __: next(replies))
    expected = {("A", "B"): "win", ("B", "A"): "loss"}.get((first, second), "tie")
    assert found.details["label"] == expected


@given(st.text(), st.text(), st.text())
def test_both_replies_stand_between_fences_that_neither_can_hold(
    problem: str, target: str, candidate: str
) -> None:
    sample = Sample(id="1", input=problem, target=target)
    seen = [shown(one.messages(sample, candidate)[-1].text) for one in COMPARISON.prompt.orders]
    plain = [text.encode("utf-8", "replace").decode() for text in (candidate, target)]
    assert seen == [tuple(plain), tuple(reversed(plain))]


def test_a_win_alone_is_correct_where_the_task_says_so() -> None:
    strict = judge_scorer(prompt=built_in_prompt("comparison"), minimum=1)
    tie, win = (scored("a", text, longer, scorer=strict) for text in ("b", "bb"))
    assert (tie.correct, win.correct) == (False, True)
    assert strict.failure("b", Sample(id="1", input="", target="a"), tie) == (
        "judge: a tie against the target"
    )
    assert strict.grader_options["minimum"] == 1


def test_more_than_half_of_the_judges_decide() -> None:
    shorter: Prefers = lambda a, b: {"A": "B", "B": "A", "tie": "tie"}[longer(a, b)]  # noqa: E731
    assert scored("aa", "b", longer, shorter, shorter).details["label"] == "win"
    undecided = scored("aa", "b", longer, shorter)
    assert undecided.value is None
    assert "judge0 loss, judge1 win" in undecided.explanation


def test_a_judge_that_fails_in_one_order_gives_no_verdict() -> None:
    def fails_once(reply_a: str, reply_b: str) -> str:
        if reply_a == "ours":
            return longer(reply_a, reply_b)
        problem = "HTTP 503"
        raise ProviderError(problem, status=503)

    with pytest.raises(ProviderError, match="503"):
        scored("theirs", "ours", fails_once)
    found = scored("long theirs", "ours", fails_once, longer, longer)
    assert found.details["label"] == "loss"


def made(**options: Any) -> JudgeScorer:
    return cast("JudgeScorer", make_scorer(Spec(name="judge", options=options), Path.cwd()))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"prompt": "helpfulness", "scale": "pairwise"}, "about one reply, .* about two replies"),
        ({"prompt": "comparison", "scale": "verdict"}, "about two replies, .* about one reply"),
        ({"prompt": "comparison", "minimum": 0.7}, "0.5 .* or 1"),
        ({"prompt": "comparison", "criteria": {"style": "is it short?"}}, "criteria"),
        ({"prompt": "comparison", "prefilter": True}, "prefilter"),
    ],
)
def test_options_that_do_not_fit_are_told(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(MisfitError, match=problem):
        made(**options)


def test_a_sample_without_a_reply_to_compare_with_is_told() -> None:
    scorer = made(prompt="comparison")
    with pytest.raises(ValueError, match="the reply to compare with"):
        scorer.check(" ")
    scorer.check("a reply")


def test_a_scorer_made_again_from_its_options_asks_the_same() -> None:
    scorer = made(prompt="comparison", minimum=1, votes=3)
    name, options = scorer.spec
    again = make_scorer(Spec(name=name, options=options), Path.cwd())
    assert again == scorer
    assert scorer.question == COMPARISON.question
