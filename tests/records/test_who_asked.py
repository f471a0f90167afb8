"""Who asked a model, by the transcript: a scorer, or the solver in one of its roles."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_llmeval.records import Asked, FailedCall, StageNote, Transcript


def asked(role: str, **fields: Any) -> Asked:
    return Asked(stage="s", role=role, model="m", parameters={}, messages=(), key="k", **fields)


@pytest.mark.parametrize(
    ("one", "of_scorer"),
    [
        (asked("solver", scorer=""), False),
        (asked("judge", scorer=""), False),
        (asked("judge", scorer="judge"), True),
        (asked("grader", scorer="panel"), True),
        (asked("judge"), True),
        (asked("solver"), False),
    ],
)
def test_a_request_is_a_scorers_if_it_says_so_or_is_an_old_one_of_a_judge(
    one: Asked, *, of_scorer: bool
) -> None:
    assert one.of_scorer is of_scorer
    assert Asked.from_json(one.to_json()) == one


def test_partners_are_the_roles_that_a_solver_asked_beside_the_model_under_test() -> None:
    calls = [
        asked("user", scorer=""),
        asked("critic", scorer=""),
        asked("user", scorer=""),
        asked("solver", scorer=""),
        asked("grader", scorer="panel"),
        asked("judge"),
    ]
    failed = tuple(FailedCall(asked=one, error="x") for one in calls)
    note = StageNote(stage="s", text="t")
    assert Transcript(events=(*failed, note)).partners == ("critic", "user")
