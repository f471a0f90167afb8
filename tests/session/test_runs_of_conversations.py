"""Conversations in runs: what fails is an error, what was paid is kept, and never paid again."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers.fixture import ModelServer
from session.one_task import OneTask
from session.roles_run import Talk

from pytest_llmeval.errors import TaskError
from pytest_llmeval.results.stored_run import read_transcripts
from pytest_llmeval.session.estimate import estimate_lines
from pytest_llmeval.session.plan_check import task_mistakes
from pytest_llmeval.task.catalog import Catalog

GIVEN = """name: talk
dataset: {path: talk.jsonl, fields: {id: id, input: "said[0]", metadata: {messages: said}}}
prompt: "{{ input }}"
solver: {turns: {skip: 1}}
scorer: includes
"""
SIMULATED = """name: talk
dataset: {path: talk.jsonl, fields: {id: id, input: "said[0]"}}
prompt:
  generate: [{system: Be brief.}]
  user: "You are the user. {{ stop }} ends it. {{ input }}"
solver: {turns: {user: user, turns: 3}}
scorer: includes
"""

UNHURRIED = settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Conversations(Talk):
    """Two samples of three turns each; every reply is ``echo:`` and what it answers."""

    def __init__(self, folder: Path, server: ModelServer, task: str) -> None:
        """Write the task."""
        super().__init__(folder, server)
        rows = [
            {"id": str(n), "said": [f"{n}.{turn}" for turn in range(3)], "target": "echo"}
            for n in range(2)
        ]
        (folder / "talk.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
        self.file.write_text(task)


def asked(task: str, sample: int) -> list[tuple[str, str]]:
    """Return the requests of a sample in their order, by model and last text."""
    if task == GIVEN:
        return [("alpha", f"{sample}.{turn}") for turn in range(3)]
    text, found = f"You are the user. DONE ends it. {sample}.0", []
    for turn in range(6):
        found.append(("beta" if turn % 2 == 0 else "alpha", text))
        text = f"echo: {text}"
    return found


@pytest.mark.parametrize("task", [GIVEN, SIMULATED], ids=["given", "simulated"])
@UNHURRIED
@given(place=st.integers(0, 5))
def test_a_failure_in_any_turn_is_an_error_and_a_resumed_run_pays_for_nothing_twice(
    model_server: ModelServer, task: str, place: int
) -> None:
    order = asked(task, 1)
    failing = order[place % len(order)]
    with tempfile.TemporaryDirectory() as folder:
        talk = Conversations(Path(folder), model_server, task)
        models = [talk.spec("alpha"), f"user={talk.spec('beta')}"]
        chosen = talk.settings(*models[: 2 if task == SIMULATED else 1])
        model_server.program(keep=10_000, poison={failing[1]: {"kind": "400"}})
        run, rows = talk.run(chosen)
        assert {row.sample: row.outcome for row in rows} == {"0": "correct", "1": "error"}
        first = talk.ledger()
        before = order[: order.index(failing)]
        assert set(first) == {*asked(task, 0), *before, failing}
        # What was said before the failure is kept.
        kept = {key.sample: transcript for key, transcript in read_transcripts(run)}
        assert [call.reply.text for call in kept["1"].calls] == [
            f"echo: {text}" for _, text in before
        ]
        # And what it cost: the totals of the run are those of its rows.
        spent = {row.sample: row.usage for row in rows}
        assert spent == {sample: transcript.usage for sample, transcript in kept.items()}
        assert spent["1"].requests == len(before)
        _, again = talk.run(replace(chosen, resume=str(run)))
        assert {row.outcome for row in again} == {"correct"}
        assert dict(talk.ledger()) == dict.fromkeys(order[order.index(failing) :], 1)
        assert {(row.details["turns"], row.details["ended"]) for row in again} == {
            (3, "messages" if task == GIVEN else "turns")
        }


def test_the_user_without_a_model_is_told_before_anything_is_asked(
    tmp_path: Path, model_server: ModelServer
) -> None:
    talk = Conversations(tmp_path, model_server, SIMULATED)
    chosen = talk.settings(talk.spec("alpha"))
    catalog = Catalog(folder=tmp_path)
    (mistake,) = task_mistakes(talk.plan(catalog, chosen), chosen, catalog).values()
    assert "user" in str(mistake)
    assert "--llmeval-model user=" in str(mistake)


def test_an_estimate_has_the_users_prompt_under_its_own_model(
    tmp_path: Path, model_server: ModelServer
) -> None:
    talk = Conversations(tmp_path, model_server, SIMULATED)
    chosen = talk.settings(talk.spec("alpha"), f"user={talk.spec('beta')}")
    catalog = Catalog(folder=tmp_path)
    of_model, of_user = estimate_lines(talk.plan(catalog, chosen), chosen, catalog)
    assert ": 2 requests" in of_model
    assert "asked as user" in of_user


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("solver: turns\n", "row 1.*metadata has no 'messages'"),
        ("solver: {turns: {turns: none}}\n", "solver.turns.turns: is 'none'"),
        ("solver: {turns: {user: user}}\n", "prompt: has no stage 'user'"),
        ("solver: {turns: {agent: {tools: {}}}}\n", "solver.turns.agent.tools"),
        ("solver: {turns: {agent: {tools: {len: {}}}}}\n", "solver.turns.agent.tools: "),
    ],
)
def test_a_mistake_in_the_task_is_told_once_with_its_place(
    tmp_path: Path, more: str, problem: str
) -> None:
    task = OneTask(tmp_path, more)
    with pytest.raises(TaskError, match=problem):
        task.catalog().load(task.file)


def test_a_first_message_that_would_be_asked_twice_is_told_before_anything_is_asked(
    tmp_path: Path, model_server: ModelServer
) -> None:
    talk = Conversations(tmp_path, model_server, GIVEN.replace("{turns: {skip: 1}}", "turns"))
    _, rows = talk.run(talk.settings(talk.spec("alpha")))
    assert [row.outcome for row in rows] == ["error", "not run"]
    assert "write solver: {turns: {skip: 1}}" in rows[0].explanation
    assert not talk.ledger()
