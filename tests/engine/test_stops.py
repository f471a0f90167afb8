"""Of the tests of a wrong task one tells the mistake, and the others are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.small_task import planned

from pytest_llmeval.engine.stops import Stops
from pytest_llmeval.errors import TaskError, TaskStopped

WRONG, SOUND = Path("/wrong.yaml"), Path("/sound.yaml")


def test_the_first_that_asks_tells_the_mistake_also_when_it_is_run_again() -> None:
    mistake = TaskError("is wrong", file=WRONG)
    stops = Stops({str(WRONG): mistake})
    for _ in range(2):
        with pytest.raises(TaskError, match="is wrong"):
            stops.check(planned(WRONG, "3"))
    with pytest.raises(TaskStopped, match=r"task 'wrong' cannot be run; t\.py::t\[3\] says why"):
        stops.check(planned(WRONG, "0"))
    stops.check(planned(SOUND, "0"))


def test_a_function_that_was_ended_is_refused_with_the_first_reason() -> None:
    stops = Stops({})
    stops.check(planned(SOUND, "0"))
    stops.end("t.py::t", "it always fails")
    stops.end("t.py::t", "another")
    assert stops.concerns(planned(SOUND, "1"))
    with pytest.raises(TaskStopped, match="it always fails"):
        stops.check(planned(SOUND, "0"))
