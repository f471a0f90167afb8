"""The fixtures `llm` and `judge`: one call, several at once, and calls that are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.engine.pending import Pending
from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.records import Completion, Json, Message, Reply, Sample
from pytest_llmeval.scoring.decision import UnscoredError
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.session.asking import LLM, RunningJudge


class Late(Future[Json]):
    """A future that is done as soon as somebody waits for it."""

    def __init__(self, answer: Callable[[], None]) -> None:
        """Call `answer` then."""
        super().__init__()
        self._answer = answer

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self._answer()
        return super().exception(timeout)


class Test:
    """Notes what is asked; nothing is answered before all was sent."""

    __test__ = False

    def __init__(self, answer: Callable[[dict[str, Any]], Json]) -> None:
        """Answer by a function of the wish, when the first answer is waited for."""
        self.answer = answer
        self.sent: list[tuple[dict[str, Any], Future[Json]]] = []

    def send(self, want: str, wish: Mapping[str, Json]) -> Pending[Json]:
        future = Late(self.answer_all)
        self.sent.append(({"want": want, **wish}, future))
        return Pending(future, future.result)

    def prepare(self, scorer: list[Json], sample: Sample, completion: Completion) -> Pending[Json]:
        wish: dict[str, Json] = {
            "scorer": scorer,
            "problem": sample.input,
            "candidate": completion.text,
        }
        return self.send("prepare", {**wish, "target": sample.target_text})

    def answer_all(self) -> None:
        for wish, future in self.sent:
            if not future.done():
                try:
                    future.set_result(self.answer(wish))
                except ProviderError as error:
                    future.set_exception(error)

    @property
    def wishes(self) -> list[dict[str, Any]]:
        """What was sent."""
        return [wish for wish, _ in self.sent]


def reply(wish: dict[str, Any]) -> Json:
    (message,) = wish["messages"]
    text = Message.from_json(message).text
    if text == "broken":
        msg = "the model is out"
        raise ProviderError(msg, reach="sample", cause="other")
    return Reply(text=f"{text} {wish['draw']}").to_json()


def judgement(wish: dict[str, Any]) -> Json:
    found: Json = Judgement(verdict=None, explanation=wish["candidate"]).to_json()
    return found


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1), st.integers(0, 3))
def test_several_conversations_are_sent_at_once_and_equal_ones_are_draws(
    texts: list[str], draw: int
) -> None:
    test = Test(reply)
    replies = LLM(test).generate_all(texts, draw=draw, temperature=0)
    expected = [f"{text} {draw + texts[:n].count(text)}" for n, text in enumerate(texts)]
    assert [one.text for one in replies] == expected
    assert all(wish["parameters"] == {"temperature": 0} for wish in test.wishes)
    assert len(test.sent) == len(texts)


def test_the_first_failure_in_the_order_of_the_conversations_is_raised() -> None:
    test = Test(reply)
    with pytest.raises(ProviderError, match="the model is out"):
        LLM(test).generate_all(["a", "broken", "b"])
    assert all(future.done() for _, future in test.sent)


def test_awaited_calls_ask_the_same_as_plain_ones() -> None:
    plain, awaited = Test(reply), Test(reply)
    conversation = [Message.of("user", "a")]

    async def main() -> tuple[Reply, ...]:
        llm = LLM(awaited)
        calls = (
            llm.agenerate("a", draw=1, role="user", top_p=1),
            llm.agenerate(conversation),
        )
        both = asyncio.gather(*calls)
        await asyncio.sleep(0)
        awaited.answer_all()
        return tuple(await both)

    llm = LLM(plain)
    replies = (llm.generate("a", draw=1, role="user", top_p=1), llm.generate(conversation))
    assert asyncio.run(main()) == replies
    assert plain.wishes == awaited.wishes


def test_several_answers_are_judged_at_once_in_order() -> None:
    test = Test(judgement)
    judge = RunningJudge(test)
    answers: list[dict[str, Any]] = [
        {"candidate": "x"},
        {"candidate": "y", "problem": "other", "votes": 3},
    ]
    found = judge.judge_all(answers, problem="why", target="t", prompt="helpfulness")
    assert [one.explanation for one in found] == ["x", "y"]
    options = {"prompt": "helpfulness"}
    assert [wish["scorer"] for wish in test.wishes] == [
        ["judge", {"votes": 1, **options}],
        ["judge", {"votes": 3, **options}],
    ]
    assert [wish["problem"] for wish in test.wishes] == ["why", "other"]
    judge(problem="why", candidate="x", target="t", prompt="helpfulness")
    assert test.wishes[-1] == test.wishes[0]
    with pytest.raises(TypeError, match="candidate"):
        judge.judge_all([{"problem": "why"}])


@pytest.mark.parametrize("target", [None, "", " \n"])
@pytest.mark.parametrize("prompt", [None, "equivalence", "published", "comparison"])
def test_a_question_that_needs_a_target_is_refused_before_anything_is_sent(
    prompt: str | None, target: str | None
) -> None:
    test = Test(judgement)
    judge = RunningJudge(test)
    asked: dict[str, Any] = {"problem": "why", "candidate": "x", "target": target}
    asked |= {"prompt": prompt} if prompt else {}
    says = f"the prompt {prompt or 'equivalence'} needs a target; give target=... or another prompt"
    with pytest.raises(UsageError, match=says):
        judge(**asked)
    with pytest.raises(UsageError, match=says):
        asyncio.run(judge.ajudge(**asked))
    with pytest.raises(UsageError, match=says):
        judge.judge_all([{"target": "t"}, {"target": target}], **{**asked, "target": "t"})
    assert test.wishes == []


def test_other_questions_need_no_target() -> None:
    judge = RunningJudge(Test(judgement))
    for prompt in ("helpfulness", "faithfulness", "./judge.md"):
        assert judge(problem="why", candidate="x", prompt=prompt).explanation == "x"


def test_a_body_that_wants_a_decision_that_is_none_ends_unscored() -> None:
    found = RunningJudge(Test(judgement))(problem="why", candidate="cut off", target="t")
    with pytest.raises(UnscoredError, match="judge: unscored: cut off"):
        _ = found.decision
