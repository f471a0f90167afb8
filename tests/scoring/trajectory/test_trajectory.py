"""The scorer trajectory: modes, arguments, the first difference, and where calls come from."""

from __future__ import annotations

import asyncio
import json
from itertools import permutations
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import (
    Asked,
    Completion,
    Json,
    ModelCall,
    Reply,
    Sample,
    Score,
    ToolCall,
    Transcript,
)
from pytest_llmeval.scoring.scorer import ScorerContext
from pytest_llmeval.scoring.trajectory.matching import ExpectedCall, Match, compared
from pytest_llmeval.scoring.trajectory.scorer import TrajectoryScorer
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall

MODES: tuple[Match, ...] = ("strict", "unordered", "in_order", "superset", "subset")
NAMES = st.lists(st.sampled_from("abc"), max_size=5)


def call(name: str, **arguments: Json) -> WrittenCall:
    return WrittenCall(name=name, arguments=arguments)


def is_subsequence(few: list[str], many: list[str]) -> bool:
    left = iter(many)
    return all(one in left for one in few)


@given(NAMES, NAMES)
def test_each_mode_is_what_its_name_says(expected: list[str], called: list[str]) -> None:
    right = {
        "strict": expected == called,
        "unordered": sorted(expected) == sorted(called),
        "in_order": is_subsequence(expected, called),
        "superset": all(called.count(one) >= expected.count(one) for one in "abc"),
        "subset": all(called.count(one) <= expected.count(one) for one in "abc"),
    }
    for match in MODES:
        found = compared(
            [ExpectedCall(tool=one) for one in expected],
            [call(one) for one in called],
            match=match,
            arguments="exact",
        )
        assert (found.share == 1) is right[match] is (not found.difference)
        assert 0 <= found.share <= 1


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=3, max_size=3))
def test_calls_are_matched_so_that_most_of_them_fit(table: list[tuple[bool, ...]]) -> None:
    # Expected call i asks for the arguments whose bits call j has.
    expected = [ExpectedCall(tool="t", arguments={str(row): True}) for row in range(3)]
    called = [
        call("t", **{str(row): table[row][column] for row in range(3)}) for column in range(3)
    ]
    found = compared(expected, called, match="superset", arguments="subset")
    best = max(sum(table[row][order[row]] for row in range(3)) for order in permutations(range(3)))
    assert found.matched == best


@pytest.mark.parametrize(
    ("arguments", "right"),
    [("exact", {"same"}), ("subset", {"same", "more"}), ("ignore", {"same", "more", "other"})],
)
def test_arguments_are_compared_as_json(arguments: Any, right: set[str]) -> None:
    expected = [ExpectedCall(tool="t", arguments={"a": 1, "b": {"c": [True]}})]
    given_ = {
        "same": call("t", a=1.0, b={"c": [True]}),
        "more": call("t", a=1, b={"c": [True]}, d=None),
        "other": call("t", a=1, b={"c": [1]}),
    }
    found = {
        name
        for name, one in given_.items()
        if compared(expected, [one], match="strict", arguments=arguments).share == 1
    }
    assert found == right


@pytest.mark.parametrize(
    ("match", "called", "told"),
    [
        ("strict", ["a"], "the expected call 2, b(...), is missing"),
        ("strict", ["a", "c"], "the expected call 2, b(...), is missing; call 2 is c()"),
        ("strict", ["a", "b", "c"], "call 3, c(), is not expected"),
        (
            "in_order",
            ["b", "a"],
            "the expected call 1, a(...), is missing at its place in the order",
        ),
        ("subset", ["b", "c"], "call 2, c(), is not expected"),
        ("superset", ["b", "c"], "the expected call 1, a(...), is missing"),
    ],
)
def test_the_explanation_names_the_first_difference(
    match: Match, called: list[str], told: str
) -> None:
    expected = [ExpectedCall(tool=one) for one in "ab"]
    found = compared(expected, list(map(call, called)), match=match, arguments="exact")
    assert found.difference == told


def asked(reply: Reply, *, tools: bool, **more: Any) -> ModelCall:
    parameters: dict[str, Json] = {"tools": []} if tools else {}
    return ModelCall(
        asked=Asked(
            **{"stage": "turn 1", "role": "solver", "scorer": "", **more},
            model="m",
            parameters=parameters,
            messages=(),
            key="k",
        ),
        reply=reply,
    )


def native(name: str, arguments: str) -> Reply:
    return Reply(text="", tool_calls=(ToolCall(id="x", name=name, arguments=arguments),))


def scored(sample: Sample, *events: ModelCall, answer: str | None = "9", **options: Any) -> Score:
    scorer = TrajectoryScorer(**options)
    completion = Completion(text="9", transcript=Transcript(events=events))
    context = cast("ScorerContext", None)
    prepared = asyncio.run(scorer.prepare(sample, completion, context)) if answer else None
    return scorer.score(answer, sample, json.loads(json.dumps(prepared)))


EXPECTED: list[Json] = [{"tool": "add", "arguments": {"numbers": [1, 2]}}, "tell"]
SAMPLE = Sample(id="1", input="1 + 2?", target=None, metadata={"calls": EXPECTED})
WRITTEN = "<tool>add(numbers=[1, 2])</tool><tool>tell(text='3')</tool>"


def test_calls_are_seen_alike_in_both_ways_of_writing_them_and_no_others() -> None:
    answer = Reply(text="3")
    by_interface = (
        asked(native("add", '{"numbers": [1, 2]}'), tools=True),
        asked(native("tell", '{"text": "3"}'), tools=True),
        asked(replace(answer, text=WRITTEN), tools=True),  # offered tools, so text is text
    )
    in_text = (
        asked(Reply(text=WRITTEN), tools=False),
        asked(Reply(text=WRITTEN), tools=False, role="judge", scorer="judge"),
        asked(Reply(text=WRITTEN), tools=False, role="user"),
        asked(answer, tools=False),
    )
    for events in (by_interface, in_text):
        score = scored(SAMPLE, *events)
        assert (score.value, score.correct) == (1, True)
        assert score.details["called"] == ["add(numbers=[1, 2])", 'tell(text="3")']


def test_calls_that_cannot_be_read_or_name_no_tool_are_calls_too() -> None:
    score = scored(SAMPLE, asked(native("add", "{"), tools=True))
    assert (score.value, score.correct) == (0, False)
    assert score.explanation == (
        "the expected call 1, add(numbers=[1, 2]), is missing; "
        "call 1 is add(arguments that cannot be read)"
    )


def test_part_of_the_calls_is_part_of_the_value_and_without_an_answer_there_is_none() -> None:
    half = asked(native("add", '{"numbers": [1, 2]}'), tools=True)
    assert (scored(SAMPLE, half).value, scored(SAMPLE, half).correct) == (0.5, False)
    assert scored(SAMPLE, half, answer=None).value == 0


def test_a_stored_answer_without_a_transcript_is_no_sample_without_calls() -> None:
    with pytest.raises(ScorerError, match="--llmeval-reuse"):
        scored(SAMPLE)


def test_a_flood_of_calls_is_incorrect_in_little_time() -> None:
    text = "<tool>add(numbers=[1])</tool>" * 5_000
    score = scored(SAMPLE, asked(Reply(text=text), tools=False), match="superset")
    assert (score.correct, score.explanation) == (False, "5000 calls are more than 1000")


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (None, "metadata.calls is missing; name its column in dataset.fields.metadata"),
        ("add", "metadata.calls is 'add', not a list of calls"),
        ([1], r"metadata.calls\[0\] is 1; write a tool's name, or {tool: NAME"),
        (["a", {"tool": "a", "arguments": []}], r"metadata.calls\[1\] is "),
        ([{"tool": "a", "args": {}}], r"metadata.calls\[0\] is "),
        ([{"name": "a"}], r"metadata.calls\[0\] is "),
    ],
)
def test_a_sample_that_expects_nothing_readable_is_told(column: Json, problem: str) -> None:
    metadata = {} if column is None else {"calls": column}
    with pytest.raises(ValueError, match=problem):
        TrajectoryScorer().check_sample(Sample(id="1", input="x", target=None, metadata=metadata))
