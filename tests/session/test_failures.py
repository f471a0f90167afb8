"""Equal failures of the user's own code end a test function; those of some replies do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.errors import LLMEvalError, ProviderError, TaskError, ToolError
from pytest_llmeval.session.failures import ALIKE, SAME, Failure, Failures


def planned(number: int, function: str = "t.py::t") -> PlannedTest:
    return PlannedTest(f"{function}[{number}]", function, "t.yaml", "t", str(number), "m", 1)


def failure(message: str = "m", kind: str = "KeyError", place: str = "t.py:1") -> Failure:
    return Failure(kind, place, message, in_body=True)


def stops_after(ends: list[Failure | None]) -> int | None:
    """Return the number of ends after which the function is stopped; None for never."""
    failures = Failures()
    told = [failures.add(planned(number), end) is not None for number, end in enumerate(ends)]
    assert sum(told) <= 1
    return told.index(True) + 1 if any(told) else None


def test_equal_messages_end_sooner_than_differing_ones() -> None:
    assert stops_after([failure()] * 20) == SAME
    assert stops_after([failure(str(number)) for number in range(20)]) == ALIKE


@given(st.lists(st.sampled_from([None, failure(), failure("n"), failure(place="u.py:2")])))
def test_any_other_outcome_before_lets_the_function_go_on(ends: list[Failure | None]) -> None:
    stopped = stops_after(ends)
    if stopped is not None:
        begun = ends[:stopped]
        assert None not in begun
        assert len({(one.kind, one.place) for one in begun if one}) == 1


def test_a_rerun_counts_once() -> None:
    failures = Failures()
    assert all(failures.add(planned(1), failure()) is None for _ in range(20))
    assert failures.remarks() == [
        "1 error is KeyError of the test body, not counted as incorrect: t.py:1"
    ]
    failures.add(planned(1), None)
    assert failures.remarks() == []


def test_functions_are_counted_apart() -> None:
    failures = Failures()
    for number in range(SAME - 1):
        assert failures.add(planned(number, "a"), failure()) is None
        assert failures.add(planned(number, "b"), failure()) is None
    assert failures.add(planned(9, "a"), failure()) is not None


def raised(error: Exception) -> Exception:
    try:
        raise error  # noqa: TRY301 - for its traceback
    except Exception as caught:  # noqa: BLE001 - any of the test's own
        return caught


@pytest.mark.parametrize(
    "error",
    [ProviderError("down"), ToolError("gone"), LLMEvalError("sample '7': not done within 3 s")],
)
def test_a_provider_a_tool_or_a_time_out_is_not_the_users_mistake(error: Exception) -> None:
    assert Failure.of(raised(error), Path(__file__), "7", in_body=True) is None


def test_the_place_is_the_innermost_line_of_the_test() -> None:
    found = Failure.of(raised(KeyError("7")), Path(__file__), "7", in_body=True)
    assert found is not None
    assert found.place.startswith("test_failures.py:")
    assert (found.kind, found.message, found.in_body) == ("KeyError", "...", True)
    own = Failure.of(raised(TaskError("x", file="t.yaml")), Path(__file__), "7", in_body=False)
    assert own is not None
    assert not own.in_body
