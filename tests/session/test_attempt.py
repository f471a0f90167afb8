"""One attempt at a test: which scores it takes, and what its end means."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import assert_correct, assert_eed_at_least, record_score
from pytest_llmeval.engine.pending import Pending
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.solved import Answer, Solved
from pytest_llmeval.errors import LLMEvalError, ProviderError, RunStopped, ScorerError, UsageError
from pytest_llmeval.records import (
    Asked,
    Completion,
    Json,
    ModelCall,
    Reply,
    Score,
    StopReason,
    Transcript,
    Usage,
)
from pytest_llmeval.records.error_json import error_to_json
from pytest_llmeval.scoring.decision import UnscoredError
from pytest_llmeval.scoring.running import RUNNING
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.ending import finish, missing_score
from pytest_llmeval.session.outcome import outcome_of
from pytest_llmeval.session.rows import row_of
from pytest_llmeval.task.catalog import Catalog

NODEID = "test_demo.py::test_demo[0001]"
TASK = """name: demo
dataset: {path: rows.jsonl}
prompt: "{{ input }}"
"""

SCORERS = """
from dataclasses import dataclass
from pytest_llmeval import Score, ScorerError

@dataclass(frozen=True)
class Fixed:
    '''Scores what its options say.'''
    name: str = "fixed"
    value: float = 1.0
    correct: bool = True
    open: bool = False
    grader, scale = "fixed/1", 1.0

    def check(self, target): ...
    def score(self, answer, sample, prepared):
        if self.open:
            return Score.unscored(self.name, "who knows")
        return Score(name=self.name, value=self.value, correct=self.correct, grader=self.grader)

@dataclass(frozen=True)
class Broken(Fixed):
    name: str = "broken"
    def score(self, answer, sample, prepared):
        raise ScorerError("out of order")

@dataclass(frozen=True)
class Several(Fixed):
    name: str = "several"
    further_names = ("several.style",)
    def further(self, score):
        return (Score(name="several.style", value=0.5, correct=None, grader=score.grader),)

@dataclass(frozen=True)
class Asking:
    '''Scores what the engine prepared.'''
    name: str = "asking"
    only_incorrect: bool = False
    grader, scale, models = "asking/1", 1.0, ()

    def check(self, target): ...
    async def prepare(self, sample, completion, context): ...
    def score(self, answer, sample, prepared):
        return Score(name=self.name, value=prepared, correct=prepared == 1.0)
"""

RIGHT = "{'./own.py:Fixed': {name: right}}"
WRONG = "{'./own.py:Fixed': {name: wrong, value: 0.0, correct: false}}"
OPEN = "{'./own.py:Fixed': {name: open, open: true}}"
BROKEN = "./own.py:Broken"
SEVERAL = "./own.py:Several"
ASKING = "./own.py:Asking"
ASIDE = "{'./own.py:Asking': {name: aside, only_incorrect: true}}"
CALL = ModelCall(
    asked=Asked(
        stage="judge",
        role="judge",
        model="openai/j",
        operation="chat",
        parameters={},
        messages=(),
        draw=0,
        key="k",
    ),
    reply=Reply(text="yes", usage=Usage(requests=1)),
    cached=False,
    age=None,
    attempts=1,
)


class Engine:
    """Answers completions, and prepares 0.5 for every other wish."""

    def __init__(self, solved: Solved) -> None:
        """Answer with `solved`."""
        self.solved, self.wishes = solved, list[tuple[str, dict[str, Json]]]()

    def send(self, want: str, arguments: dict[str, Json]) -> Pending[Answer]:
        answer = Future[Answer]()
        answer.set_result(self.answer(want, arguments))
        return Pending(answer, answer.result)

    def answer(self, want: str, arguments: dict[str, Json]) -> Json:
        self.wishes.append((want, arguments))
        if want == "completion":
            return self.solved.to_json()
        if want == "judges":
            return ["openai/j"]
        return {"prepared": 0.5, "failed": None, "transcript": Transcript(events=(CALL,)).to_json()}

    @property
    def prepared(self) -> list[Json]:
        """The scorers that were asked for."""
        return [arguments["scorer"] for want, arguments in self.wishes if want == "prepare"]


class Bench:
    """An attempt at a test of a task, whose completion has arrived."""

    def __init__(self, folder: Path) -> None:
        """Write the task into `folder`."""
        self.folder = folder

    def attempt(  # noqa: PLR0913 - what a completion and its task may bring
        self,
        more: str,
        *,
        answer: str | None = "Rome",
        stop_reason: StopReason = "stop",
        details: dict[str, Json] | None = None,
        prepared: dict[str, Json] | None = None,
        failed: dict[str, LLMEvalError] | None = None,
    ) -> Attempt:
        (self.folder / "own.py").write_text(SCORERS)
        (self.folder / "rows.jsonl").write_text('{"id": 1, "input": "?", "target": "Rome"}\n')
        file = self.folder / "task.yaml"
        file.write_text(TASK + more)
        completion = Completion(
            text="Rome", answer=answer, stop_reason=stop_reason, details=details or {}
        )
        errors = {name: error_to_json(error) for name, error in (failed or {}).items()}
        solved = Solved(completion=completion, prepared=prepared or {}, failed=errors)
        self.engine = Engine(solved)
        attempt = Attempt(NODEID, lambda: self.engine)
        attempt.loaded = Catalog(folder=self.folder).load(file)
        attempt.sample = attempt.loaded.by_id["1"]
        attempt.planned = PlannedTest(NODEID, "test_demo", str(file), "demo", "1", "openai/m", 1)
        RUNNING.set(attempt)
        attempt.wait()
        return attempt


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    RUNNING.set(None)
    yield Bench(tmp_path)
    RUNNING.set(None)


Body = Callable[[Attempt], Any]


def run(attempt: Attempt, body: Body) -> BaseException | None:
    """Run a test's body as the plugin does; return what the test ends by."""
    try:
        try:
            body(attempt)
        except Exception as error:
            finish(attempt, error)
            raise
        finish(attempt, None)
    except Exception as error:  # noqa: BLE001 - the end of the test
        return error
    return None


def outcome(attempt: Attempt, raised: BaseException | None) -> str:
    return outcome_of(attempt, raised, in_body=True, skipped=False)


def correct(attempt: Attempt) -> None:
    assert attempt.sample is not None
    assert attempt.completion is not None
    assert_correct(attempt.sample, attempt.completion)


def nothing(_: Attempt) -> None: ...


def decisions(attempt: Attempt) -> dict[str, bool | None]:
    return {score.name: score.correct for score in attempt.scores}


ODD: Any = {"seen": {1}}
PATH: Any = {"at": Path("x")}


@pytest.mark.parametrize(
    ("value", "scale"),
    [(0.0, 1.0), (1.0, 1.0), (0.5, 1.0), (100.0, 100.0), (1.0 + 1e-10, 1.0), (None, 1.0)],
)
def test_a_value_on_its_scale_is_taken(bench: Bench, value: float | None, scale: float) -> None:
    attempt = bench.attempt("")
    score = Score(name="own", value=value, scale=scale, correct=None)
    assert record_score(score) == score
    assert attempt.scores == [score]


@pytest.mark.parametrize(
    ("score", "told"),
    [
        (
            Score(name="own", value=1.1, correct=True),
            "sample '1', score 'own': 1.1 is not in 0..1, its scale",
        ),
        (
            Score(name="own", value=-0.5, correct=False),
            "sample '1', score 'own': -0.5 is not in 0..1, its scale",
        ),
        (
            Score(name="own", value=100.5, scale=100.0, correct=True),
            "sample '1', score 'own': 100.5 is not in 0..100, its scale",
        ),
        (
            Score(name="own", value=float("nan"), correct=None),
            "sample '1', score 'own', field 'value' is nan, which JSON cannot hold",
        ),
        (
            Score(name="own", value=1.0, correct=True, details=ODD),
            "sample '1', score 'own', field 'details'['seen'] is a set, not plain JSON",
        ),
        (
            Score(name="own", value=1.0, correct=True, details=PATH),
            "sample '1', score 'own', field 'details'['at'] is a pathlib",
        ),
    ],
)
def test_a_score_that_no_row_can_hold_is_refused(bench: Bench, score: Score, told: str) -> None:
    attempt = bench.attempt("")
    with pytest.raises(ScorerError) as refused:
        record_score(score)
    assert str(refused.value).startswith(told)
    assert attempt.scores == []


def test_outside_of_a_test_nothing_is_recorded(bench: Bench) -> None:
    assert isinstance(bench, Bench)
    score = Score(name="own", value=5.0, correct=True)
    assert record_score(score) is score


@pytest.mark.parametrize(
    ("given", "expected"),
    [("right", [True]), ("wrong", [False]), ("own", [True])],
    ids=["declared as deciding", "declared beside", "undeclared"],
)
def test_whether_a_score_decides_is_said_by_the_task(
    bench: Bench, given: str, expected: list[bool]
) -> None:
    attempt = bench.attempt(f"scorer: [{RIGHT}, {WRONG}]\n")
    record_score(Score(name=given, value=1.0, correct=True))
    assert [score.decides for score in attempt.scores] == expected


@pytest.mark.parametrize(
    ("scorers", "decides", "raised", "expected"),
    [
        ([RIGHT], "first", None, "correct"),
        ([WRONG], "first", AssertionError, "incorrect"),
        ([OPEN], "first", UnscoredError, "unscored"),
        ([BROKEN], "first", ScorerError, "error"),
        ([RIGHT, WRONG], "first", None, "correct"),
        ([RIGHT, OPEN], "first", None, "correct"),
        ([WRONG, RIGHT], "first", AssertionError, "incorrect"),
        ([RIGHT, WRONG], "all", AssertionError, "incorrect"),
        ([RIGHT, OPEN], "all", UnscoredError, "unscored"),
        ([OPEN, WRONG], "all", AssertionError, "incorrect"),
        ([RIGHT, WRONG], "any", None, "correct"),
        ([WRONG, RIGHT], "any", None, "correct"),
        ([OPEN, RIGHT], "any", None, "correct"),
        ([WRONG, OPEN], "any", UnscoredError, "unscored"),
        ([RIGHT, WRONG], "[wrong]", AssertionError, "incorrect"),
        ([RIGHT, WRONG], "[right, wrong]", AssertionError, "incorrect"),
    ],
)
def test_assert_correct_follows_the_scorers_that_decide(
    bench: Bench, scorers: list[str], decides: str, raised: type | None, expected: str
) -> None:
    attempt = bench.attempt(f"scorer: [{', '.join(scorers)}]\ndecides: {decides}\n")
    error = run(attempt, correct)
    assert type(error) is (type(None) if raised is None else raised)
    assert outcome(attempt, error) == expected


@pytest.mark.parametrize(
    ("scorers", "decides", "raised", "expected"),
    [
        ([RIGHT], "first", None, "correct"),
        ([WRONG], "first", AssertionError, "incorrect"),
        ([OPEN], "first", UnscoredError, "unscored"),
        ([RIGHT, WRONG], "all", AssertionError, "incorrect"),
        ([WRONG, RIGHT], "any", None, "correct"),
        ([WRONG, OPEN], "any", UnscoredError, "unscored"),
    ],
)
def test_the_outcome_follows_recorded_scores_without_an_assertion(
    bench: Bench, scorers: list[str], decides: str, raised: type | None, expected: str
) -> None:
    attempt = bench.attempt(f"scorer: [{', '.join(scorers)}]\ndecides: {decides}\n")

    def body(attempt: Attempt) -> None:
        assert attempt.sample is not None
        for scorer in attempt.scorers:
            attempt.score(scorer, "Rome", attempt.sample)

    error = run(attempt, body)
    assert type(error) is (type(None) if raised is None else raised)
    assert outcome(attempt, error) == expected


def test_the_further_scores_of_a_scorer_are_recorded_behind_its_own_and_decide_nothing(
    bench: Bench,
) -> None:
    attempt = bench.attempt(f"scorer: {SEVERAL}\n")
    raised = run(attempt, correct)
    assert outcome(attempt, raised) == "correct"
    found = [(one.name, one.value, one.decides) for one in attempt.scores]
    assert found == [("several", 1.0, True), ("several.style", 0.5, False)]
    assert len({one.grader for one in attempt.scores}) == 1


def test_assert_correct_returns_the_scores_in_the_order_of_the_task(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: [{WRONG}, {RIGHT}, {OPEN}]\ndecides: right\n")
    assert attempt.sample is not None
    assert attempt.completion is not None
    scores = assert_correct(attempt.sample, attempt.completion)
    assert [(score.name, score.decides) for score in scores] == [
        ("wrong", False),
        ("right", True),
        ("open", False),
    ]
    assert tuple(attempt.scores) == scores


def test_assert_correct_without_a_declared_scorer_says_what_to_add(bench: Bench) -> None:
    error = run(bench.attempt(""), correct)
    assert isinstance(error, UsageError)
    assert "no task with a scorer; add `scorer: NAME` to it" in str(error)


def test_a_body_that_swallows_the_assertion_is_incorrect_all_the_same(bench: Bench) -> None:
    def body(attempt: Attempt) -> None:
        with pytest.raises(AssertionError):
            correct(attempt)

    attempt = bench.attempt(f"scorer: {WRONG}\n")
    error = run(attempt, body)
    assert isinstance(error, AssertionError)
    assert str(error) == "wrong: 'Rome' is not correct, the target is 'Rome'"
    assert outcome(attempt, error) == "incorrect"


@pytest.mark.parametrize(
    ("more", "missing"),
    [
        (f"scorer: {RIGHT}\n", "right"),
        (f"scorer: [{WRONG}, {RIGHT}]\ndecides: right\n", "right"),
        (f"scorer: [{RIGHT}, {WRONG}]\ndecides: all\n", "right"),
    ],
)
def test_a_declared_scorer_that_no_body_recorded_is_an_error_that_says_so(
    bench: Bench, more: str, missing: str
) -> None:
    attempt = bench.attempt(more)
    error = run(attempt, nothing)
    assert type(error) is ScorerError
    assert f"declares the scorer '{missing}', and the test recorded no score of it" in str(error)
    assert "call assert_correct(sample, completion)" in str(error)
    assert outcome(attempt, error) == "error"


def test_one_of_two_deciding_scorers_is_missing(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: [{RIGHT}, {WRONG}]\ndecides: all\n")
    error = run(attempt, lambda _: record_score(Score(name="right", value=1.0, correct=True)))
    assert "declares the scorer 'wrong'" in str(error)
    assert outcome(attempt, error) == "error"


def test_an_own_assertion_in_place_of_the_declared_scorer_is_an_error(bench: Bench) -> None:
    def body(_: Attempt) -> None:
        msg = "not what I wanted"
        raise AssertionError(msg)

    attempt = bench.attempt(f"scorer: {RIGHT}\n")
    error = run(attempt, body)
    assert str(error) == "not what I wanted"
    assert outcome(attempt, error) == "error"


def test_without_a_scorer_the_body_decides_by_itself(bench: Bench) -> None:
    def body(_: Attempt) -> None:
        raise AssertionError

    attempt = bench.attempt("")
    assert run(attempt, nothing) is None
    assert outcome(attempt, None) == "correct"
    assert outcome(attempt, run(attempt, body)) == "incorrect"


def test_a_body_that_asserts_by_an_undeclared_scorer_is_scored_by_that_one(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: {RIGHT}\n")
    error = run(attempt, lambda _: assert_eed_at_least("x", "2 x"))
    assert isinstance(error, AssertionError)
    assert (attempt.undeclared, missing_score(attempt)) == (("EED",), "")
    assert outcome(attempt, error) == "incorrect"
    attempt = bench.attempt(f"scorer: {RIGHT}\n")
    assert run(attempt, lambda _: assert_eed_at_least("x", "x")) is None
    assert outcome(attempt, None) == "correct"


def test_an_undeclared_score_that_does_not_decide_replaces_nothing(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: {RIGHT}\n")
    length = Score(name="length", value=0.5, correct=None, decides=False)
    error = run(attempt, lambda _: record_score(length))
    assert attempt.undeclared == ()
    assert "declares the scorer 'right'" in str(error)


def test_scorers_that_do_not_decide_are_run_behind_the_body(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: [{RIGHT}, {WRONG}, {OPEN}]\n")
    assert (
        run(attempt, lambda _: record_score(Score(name="right", value=1.0, correct=True))) is None
    )
    assert decisions(attempt) == {"right": True, "wrong": False, "open": None}
    assert [score.decides for score in attempt.scores] == [True, False, False]


@pytest.mark.parametrize("failure", [AssertionError("no"), ValueError("x"), UnscoredError("y")])
def test_they_are_run_behind_a_body_that_failed_too(bench: Bench, failure: Exception) -> None:
    def body(_: Attempt) -> None:
        record_score(Score(name="right", value=1.0, correct=True))
        raise failure

    attempt = bench.attempt(f"scorer: [{RIGHT}, {WRONG}]\n")
    assert run(attempt, body) is failure
    assert decisions(attempt) == {"right": True, "wrong": False}


@pytest.mark.parametrize("failure", [ProviderError("down"), RunStopped("over"), UsageError("no")])
def test_they_are_not_run_once_the_run_itself_failed(bench: Bench, failure: LLMEvalError) -> None:
    def body(_: Attempt) -> None:
        raise failure

    attempt = bench.attempt(f"scorer: [{RIGHT}, {WRONG}]\n")
    assert run(attempt, body) is failure
    assert attempt.scores == []


def test_a_score_that_the_body_recorded_is_not_made_again(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: [{RIGHT}, {WRONG}]\n")
    assert run(attempt, correct) is None
    assert [score.name for score in attempt.scores] == ["right", "wrong"]


@pytest.mark.parametrize(
    ("scorer", "name", "reason"),
    [
        (BROKEN, "broken", "ScorerError: out of order (own.py, line 24, in score)"),
        (
            "{'./own.py:Fixed': {name: far, value: 7.0}}",
            "far",
            "ScorerError: sample '1', score 'far': 7.0 is not in 0..1, its scale",
        ),
    ],
)
def test_a_failure_of_a_scorer_that_does_not_decide_is_an_undecided_score(
    bench: Bench, scorer: str, name: str, reason: str
) -> None:
    attempt = bench.attempt(f"scorer: [{RIGHT}, {scorer}]\n")
    right = Score(name="right", value=1.0, correct=True)
    assert run(attempt, lambda _: record_score(right)) is None
    score = attempt.scores[-1]
    assert (score.name, score.value, score.correct, score.decides) == (name, None, None, False)
    assert score.explanation == reason
    assert outcome(attempt, None) == "correct"


def test_what_was_prepared_ahead_is_scored_without_asking_again(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: {ASKING}\n", prepared={"asking": 1.0})
    assert run(attempt, correct) is None
    assert attempt.scores[0].value == 1.0
    assert bench.engine.prepared == []


def test_a_failure_while_it_was_prepared_ends_the_test_and_leaves_the_completion(
    bench: Bench,
) -> None:
    down = ProviderError("judge down", status=500)
    attempt = bench.attempt(f"scorer: {ASKING}\n", failed={"asking": down})
    error = run(attempt, correct)
    assert isinstance(error, ProviderError)
    assert (str(error), error.status) == ("judge down", 500)
    assert outcome(attempt, error) == "error"
    assert attempt.planned is not None
    row = row_of(attempt, attempt.planned, "error", error)
    assert (row.answer, row.explanation) == ("Rome", "judge down")
    [score] = row.scores
    assert (score.name, score.correct, score.explanation) == (
        "asking",
        None,
        "ProviderError: judge down",
    )


def test_a_failure_while_it_was_prepared_is_an_undecided_score_where_others_decide(
    bench: Bench,
) -> None:
    more = f"scorer: [{RIGHT}, {ASKING}]\n"
    attempt = bench.attempt(more, failed={"asking": ProviderError("judge down")})
    assert (
        run(attempt, lambda _: record_score(Score(name="right", value=1.0, correct=True))) is None
    )
    assert attempt.scores[-1].explanation == "ProviderError: judge down"
    assert outcome(attempt, None) == "correct"


def test_another_answer_than_the_completions_is_prepared_when_it_is_scored(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: {ASKING}\n", prepared={"asking": 1.0})
    assert attempt.sample is not None
    score = attempt.score(attempt.scorers[0], "Paris", attempt.sample)
    assert score.value == 0.5
    assert bench.engine.prepared == [["asking", {}]]
    (wish,) = (arguments for want, arguments in bench.engine.wishes if want == "prepare")
    assert Completion.from_json(wish["completion"]).answer == "Paris"
    assert attempt.completion is not None
    assert attempt.completion.transcript.calls == (CALL,)


def test_answers_judged_at_once_are_all_in_the_stored_transcript(bench: Any) -> None:
    attempt = bench.attempt("")
    sent = [attempt.prepare(["judge", {}], attempt.sample, attempt.completion) for _ in range(3)]
    for one in sent:
        one.result()
    assert attempt.completion.transcript.calls == (CALL,) * 3
    # Each stored its own calls; then what came together is stored again.
    wants = [want for want, _ in bench.engine.wishes]
    assert wants == ["completion", *["prepare"] * 3, *["transcript"] * 2]
    stored = Transcript.from_json(bench.engine.wishes[-1][1]["transcript"])
    assert stored == attempt.completion.transcript


def test_without_an_answer_nothing_is_prepared(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: [{WRONG}, {ASKING}]\n", answer=None)
    run(attempt, correct)
    assert bench.engine.prepared == []


@pytest.mark.parametrize(
    ("first", "asked"), [(RIGHT, []), (OPEN, []), (WRONG, [["aside", {}]])], ids=str
)
def test_a_scorer_of_incorrect_answers_is_run_for_those_alone(
    bench: Bench, first: str, asked: list[Json]
) -> None:
    attempt = bench.attempt(f"scorer: [{first}, {ASIDE}]\n")
    run(attempt, correct)
    assert bench.engine.prepared == asked
    assert ("aside" in decisions(attempt)) == bool(asked)
    assert "aside" not in [scorer.name for scorer in attempt.scorers]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "wrong: there is no answer, the target is 'Rome'"),
        ({"stop_reason": "length"}, "the reply holds no answer in the demanded form; it ended by"),
        ({"details": {"reason": "no query"}, "stop_reason": "length"}, "no query"),
    ],
    ids=["complete", "cut", "the solver's reason"],
)
def test_a_missing_answer_is_explained_by_how_the_reply_ended(
    bench: Bench, fields: dict[str, Any], reason: str
) -> None:
    attempt = bench.attempt(f"scorer: {WRONG}\n", answer=None, **fields)
    error = run(attempt, correct)
    assert isinstance(error, AssertionError)
    assert reason in str(error)
    assert outcome(attempt, error) == "incorrect"


def test_a_test_without_a_task_ends_as_its_body_does() -> None:
    attempt = Attempt("test_own.py::test_own", lambda: pytest.fail("nothing is asked"))
    attempt.record(Score(name="own", value=0.0, correct=False))
    assert run(attempt, nothing) is None
    assert (attempt.declared, attempt.scorers, attempt.undeclared) == ((), (), ())


def test_a_row_has_the_scores_their_graders_and_the_completion(bench: Bench) -> None:
    attempt = bench.attempt(f"scorer: [{RIGHT}, {WRONG}]\n", details={"turns": 2})
    assert run(attempt, correct) is None
    assert attempt.planned is not None
    row = row_of(attempt, attempt.planned, "correct", None)
    assert (row.task, row.sample, row.model, row.epoch) == ("demo", "1", "openai/m", 1)
    assert (row.answer, row.target, row.details) == ("Rome", "Rome", {"turns": 2})
    assert [score.name for score in row.scores] == ["right", "wrong"]
    assert row.versions["grader:right"] == "fixed/1 value=1 correct=true open=false"
    assert row == type(row).from_json(row.to_json())
