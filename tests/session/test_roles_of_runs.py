"""Every request of a role goes to its model, and is stored, replayed and limited like others."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers.fixture import ModelServer
from session.roles_run import Talk, answers

from pytest_llmeval.commands.main import main
from pytest_llmeval.errors import UsageError
from pytest_llmeval.results.stored_run import read_info, read_run, read_transcripts
from pytest_llmeval.session.estimate import estimate_lines
from pytest_llmeval.session.key_variables import key_variables
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

REPLAY = "replay/kept.jsonl,temperature=0"
ROLES = ("user", "critic", "tutor-2", "judge")
MODELS = ("alpha", "beta", "gamma")

PLACES = st.sampled_from(["line", "task", "both"])
"""Where a role has its model: on the command line, in the task, or in both, which disagree."""

UNHURRIED = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def choices(draw: st.DrawFn) -> dict[str, Any]:
    """Draw which model has which role, and where that is said."""
    roles = tuple(draw(st.lists(st.sampled_from(ROLES), unique=True, max_size=3)))
    panel = draw(st.lists(st.sampled_from(MODELS), unique=True, min_size=1, max_size=3))
    grader = draw(st.sampled_from(["grader", "judge", *roles]))
    model_of = {role: [draw(st.sampled_from(MODELS))] for role in roles}
    return {
        "roles": roles,
        "solver": draw(st.sampled_from(MODELS)),
        "scorer": grader,
        "models": {grader: panel, **model_of},
        "place": {
            role: draw(st.sampled_from(["line", "task", "both"])) for role in (*roles, grader)
        },
        "judge_option": draw(st.booleans()),
        "alike": draw(st.booleans()),
        "shuffle": draw(st.randoms(use_true_random=False)),
    }


def talk_of(choice: dict[str, Any], folder: Path, server: ModelServer) -> tuple[Talk, Settings]:
    """Return the task, and the settings that its options lead to."""
    server.program(keep=10_000)
    talk = Talk(folder, server, roles=choice["roles"], scorer=choice["scorer"])
    specs = {role: [*map(talk.spec, of)] for role, of in choice["models"].items()}
    wrong = [talk.spec("nobody")]
    of_task = {
        role: specs[role] if place == "task" else wrong
        for role, place in choice["place"].items()
        if place != "line"
    }
    talk = Talk(
        folder,
        server,
        roles=choice["roles"],
        scorer=choice["scorer"],
        of_task=of_task,
        alike=choice["alike"],
    )
    typed, judges = [talk.spec(choice["solver"])], []
    for role, place in choice["place"].items():
        if place == "task":
            continue
        if role == "judge" and choice["judge_option"]:
            judges += specs[role]
        else:
            typed += [f"{role}={spec}" for spec in specs[role]]
    choice["shuffle"].shuffle(typed)
    return talk, talk.settings(*typed, judges=judges)


def wanted(choice: dict[str, Any], talk: Talk) -> set[tuple[str, str]]:
    """Return the requests that are to be sent, by model and text."""
    asked = {"solver": [choice["solver"]], **{r: choice["models"][r] for r in choice["roles"]}}
    solving = {
        (of[0], f"what is {n}?" if choice["alike"] else f"what is {n}? {role}")
        for role, of in asked.items()
        for n in talk.ids
    }
    scoring = {
        (model, f"what is {n}? as {choice['scorer']}")
        for model in choice["models"][choice["scorer"]]
        for n in talk.ids
    }
    return solving | scoring


def said(choice: dict[str, Any], talk: Talk) -> dict[str, str]:
    """Return the answers, which tell who was asked in which role."""
    roles = " ".join(f"{role}={choice['models'][role][0]}" for role in choice["roles"])
    return {str(n): f"solver={choice['solver']} {roles}".strip() for n in talk.ids}


@UNHURRIED
@given(choice=choices())
def test_a_request_of_a_role_goes_to_its_model_once_and_never_again(
    model_server: ModelServer, choice: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        talk, chosen = talk_of(choice, Path(name), model_server)
        run, rows = talk.run(chosen)
        assert {row.outcome for row in rows} == {"correct"}, [row.explanation for row in rows]
        assert answers(rows) == said(choice, talk)
        ledger = talk.ledger()
        assert set(ledger) == wanted(choice, talk)
        assert set(ledger.values()) == {1}

        _, again = talk.run(replace(chosen, reuse=str(run)))
        assert answers(again) == said(choice, talk)
        assert all(row.cached for row in again)
        assert not talk.ledger()


@pytest.fixture
def talk(tmp_path: Path, model_server: ModelServer) -> Talk:
    model_server.program(keep=10_000)
    return Talk(tmp_path, model_server)


def named(talk: Talk, user: str = "beta", grader: str = "gamma") -> list[str]:
    """Return values of --llmeval-model for the model under test, the user and the grader."""
    return [
        talk.spec("alpha"),
        f"user={talk.spec(user)}",
        f"grader={talk.spec(grader)}",
    ]


def test_a_resumed_run_finds_all_roles(talk: Talk) -> None:
    chosen = talk.settings(*named(talk))
    run, rows = talk.run(chosen)
    talk.ledger()
    again, resumed = talk.run(replace(chosen, resume=str(run)))
    assert (again, answers(resumed)) == (run, answers(rows))
    with pytest.raises(UsageError, match="One accuracy has one grader"):
        talk.run(talk.settings(*named(talk, grader="other"), resume=str(run)))
    assert not talk.ledger()


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("user", ["alpha", "beta"])
def test_a_recording_answers_for_all_roles_each_with_its_own_reply(
    tmp_path: Path, model_server: ModelServer, user: str, *, alike: bool
) -> None:
    model_server.program(keep=10_000)
    talk = Talk(tmp_path, model_server, alike=alike)
    _, rows = talk.run(talk.settings(*named(talk, user), keep="kept.jsonl"))
    talk.ledger()
    _, replayed = talk.run(talk.settings(REPLAY))
    assert answers(replayed) == answers(rows)
    assert answers(rows) == dict.fromkeys("01", f"solver=alpha user={user}")
    assert [row.scores[0].details for row in replayed] == [row.scores[0].details for row in rows]
    assert not talk.ledger()


def test_who_scores_a_recorded_conversation_may_be_another_but_its_partner_is_the_recorded_one(
    talk: Talk,
) -> None:
    talk.run(talk.settings(*named(talk), keep="kept.jsonl"))
    talk.ledger()
    other = [f"user={talk.spec('other')}", f"grader={talk.spec('other')}"]
    _, rows = talk.run(talk.settings(REPLAY, *other))
    assert answers(rows) == dict.fromkeys("01", "solver=alpha user=beta")
    assert set(talk.ledger()) == {("other", f"what is {n}? as grader") for n in "01"}


def test_a_role_that_was_recorded_with_other_parameters_is_named_with_them(talk: Talk) -> None:
    alpha, user, grader = named(talk)
    _, rows = talk.run(talk.settings(alpha, f"{user},top_p=0.5", grader, keep="kept.jsonl"))
    _, lost = talk.run(talk.settings(REPLAY))
    assert "no recorded reply to this request" in lost[0].explanation
    _, replayed = talk.run(talk.settings(REPLAY, f"user={REPLAY},top_p=0.5"))
    assert answers(replayed) == answers(rows)


def test_a_recording_that_lacks_a_role_says_so(tmp_path: Path, model_server: ModelServer) -> None:
    talk = Talk(tmp_path, model_server, roles=("user",), alike=True)
    talk.run(talk.settings(*named(talk), keep="kept.jsonl"))
    talk = Talk(tmp_path, model_server, roles=("critic",), alike=True)
    lines = (tmp_path / "kept.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line).get("role") == "user"]
    (tmp_path / "kept.jsonl").write_text("".join(kept))
    _, rows = talk.run(talk.settings(REPLAY))
    assert "recorded for the role 'user', not for 'solver'" in rows[0].explanation


@pytest.mark.parametrize("dear", ["beta", "gamma"], ids=["the user", "the grader"])
def test_the_spending_of_every_role_ends_the_run(talk: Talk, dear: str) -> None:
    talk = Talk(talk.folder, talk.server, samples=12)
    free = "{input: 0, output: 0}"
    lines = [f"openai/{model}: {free}" for model in MODELS if model != dear]
    prices = talk.folder / "prices.yaml"
    prices.write_text("\n".join([*lines, f"openai/{dear}: {{input: 10000, output: 10000}}"]))
    # A reply of 15 tokens costs 0.15 dollars.
    typed = [f"{spec},max_tokens=5" for spec in named(talk)]
    chosen = talk.settings(*typed, prices=str(prices), budget="1usd")
    _, rows = talk.run(replace(chosen, concurrency=1))
    asked = sum(number for (model, _), number in talk.ledger().items() if model == dear)
    assert 5 <= asked <= 7
    assert {row.outcome for row in rows[asked + 1 :]} == {"not run"}


def test_the_price_of_every_role_must_be_known_before_anything_is_paid(talk: Talk) -> None:
    prices = talk.folder / "prices.yaml"
    prices.write_text("openai/alpha: {input: 1, output: 1}\nopenai/gamma: {input: 1, output: 1}\n")
    with pytest.raises(UsageError, match="no price is known for openai/beta"):
        talk.run(talk.settings(*named(talk), prices=str(prices), budget="5usd"))
    assert not talk.ledger()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "no model is configured for the role 'user': pass --llmeval-model user=SPEC"),
        (["user=beta", "user=gamma"], r"the role 'user' has 2 models \(openai/beta.*gamma"),
    ],
    ids=["none", "several"],
)
def test_a_declared_role_without_its_one_model_is_told_once_before_anything_is_paid(
    talk: Talk, more: Sequence[str], told: str
) -> None:
    pairs = [one.split("=") for one in more]
    typed = [f"{role}={talk.spec(model)}" for role, model in pairs]
    _, rows = talk.run(talk.settings(talk.spec("alpha"), *typed))
    assert [row.outcome for row in rows] == ["error", "not run"]
    assert re.search(f"task 'talk': {told}", rows[0].explanation)
    assert "t.py::t[0" in rows[1].explanation
    assert not talk.ledger()


def test_an_undeclared_role_without_a_model_is_told_once_and_ends_its_task(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.program(keep=10_000)
    talk = Talk(tmp_path, model_server, declares=False, samples=20)
    grader = f"grader={talk.spec('gamma')}"
    _, rows = talk.run(talk.settings(talk.spec("alpha"), grader))
    outcomes = [row.outcome for row in rows]
    assert (outcomes.count("error"), outcomes.count("not run")) == (1, 19)
    [told] = [row.explanation for row in rows if row.outcome == "error"]
    assert "no model is configured for the role 'user'" in told
    # Those under way when it was found out have paid their first request, no others.
    assert len(talk.ledger()) <= 8

    talk.run(talk.settings(*named(talk)))
    assert not talk.told
    assert {model for model, _ in talk.ledger()} == set(MODELS)


def test_a_role_that_nobody_asks_is_remarked_at_the_end(talk: Talk) -> None:
    talk.run(talk.settings(*named(talk), f"usr={talk.spec('beta')}"))
    assert talk.conclusion is not None
    [told] = talk.conclusion.remarks
    assert told == (
        "the role 'usr' of --llmeval-model usr=... was not asked "
        "(roles of these tasks: grader, user)"
    )
    talk.run(talk.settings(*named(talk)))
    assert talk.conclusion.remarks == ()


def test_a_scorers_missing_model_is_remarked_with_the_option_that_names_it(talk: Talk) -> None:
    talk.run(talk.settings(*named(talk)[:2]))
    [told] = talk.told
    assert told == (
        "task 'talk' is scored by a grader and none is configured: pass --llmeval-model grader=SPEC"
    )


def test_the_run_tells_who_had_which_role(talk: Talk) -> None:
    run, rows = talk.run(talk.settings(*named(talk)))
    info: Any = read_info(run)
    alpha, beta, gamma = map(talk.spec, MODELS)
    assert info["settings"]["roles"] == {"user": [beta], "grader": [gamma]}
    assert info["roles"] == [{"task": "talk", "model": alpha, "role": "user", "asked": beta}]
    [judge] = info["judges"]
    assert (judge["role"], judge["judge"]) == ("grader", gamma)
    [_, row] = rows
    assert row.versions["role:user"] == beta
    assert row.scores[0].grader == f"panel/1 by {gamma}"
    assert row.usage.requests == 3
    assert row.usage.total_tokens == 3 * 15
    assert "the role user was played by openai/beta" in (run / "report.html").read_text()
    events = {key.sample: one.calls for key, one in read_transcripts(run)}["1"]
    assert [(one.asked.role, one.asked.scorer) for one in events] == [
        ("solver", ""),
        ("user", ""),
        ("grader", "panel"),
    ]
    stored = [json.loads(line).get("role", "solver") for line in _recorded(talk)]
    assert sorted(stored) == ["grader", "grader", "solver", "solver", "user", "user"]


def _recorded(talk: Talk) -> list[str]:
    talk.run(talk.settings(*named(talk), keep="kept.jsonl"))
    return (talk.folder / "kept.jsonl").read_text().splitlines()


def test_the_estimate_names_the_models_of_other_roles(talk: Talk) -> None:
    chosen, catalog = talk.settings(*named(talk)), Catalog(folder=talk.folder)
    lines = estimate_lines(talk.plan(catalog, chosen), chosen, catalog)
    assert lines[-1] == (
        f"talk · {talk.spec('beta')}: asked as user, as often as the solver does; not estimated"
    )


def test_a_comparison_says_whose_role_another_model_had(
    talk: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [talk.run(talk.settings(*named(talk, user)))[0] for user in ("beta", "gamma")]
    main(["compare", *map(str, runs)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "role:user differs: a openai/beta" in shown


def test_rescoring_asks_the_scorers_role_and_nobody_else(
    talk: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    run, rows = talk.run(talk.settings(*named(talk)))
    talk.ledger()
    report = ("--report", str(talk.folder / "again"))
    other = talk.spec("other")
    assert main(["rescore", str(run), *report, "--model", f"grader={other}"]) == 0
    assert set(talk.ledger()) == {("other", f"what is {n}? as grader") for n in "01"}
    (made,) = (talk.folder / "again").glob("2*")
    found = {row.sample: row for row in read_run(made).rows}
    for row in rows:
        again = found[row.sample]
        assert again.versions["role:user"] == talk.spec("beta")
        assert again.usage == row.usage
        assert again.scores[0].grader == f"panel/1 by {other}"
        assert again.scores[0].details["models"] == ["other-2026-01-01"]
    assert main(["rescore", str(run), *report]) == 0
    assert not talk.ledger()
    assert main(["rescore", str(run), *report, "--model", other]) != 0
    assert "name a role, such as --model judge=SPEC" in capsys.readouterr().err


def test_a_key_that_a_role_names_stands_in_no_file_and_no_workers_environment(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "planted-without-any-shape-77"
    monkeypatch.setenv("GRADER_API_KEY", key)
    talk.server.program(reply={"content": f"my key is {key}"})
    specs = named(talk)
    chosen = talk.settings(*specs[:2], f"{specs[2]},key=GRADER_API_KEY", keep="kept.jsonl")
    assert "GRADER_API_KEY" in key_variables(chosen, {"GRADER_API_KEY": key})
    talk.run(chosen)
    files = [file for file in talk.folder.rglob("*") if file.is_file()]
    assert len(files) > 8
    assert not [file.name for file in files if key.encode() in file.read_bytes()]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("user=gpt-5.1", "the role 'user': unknown model spec 'gpt-5.1'"),
        ("user=openai/m,api_key=hidden", "the role 'user': .*keys come from environment"),
        ("solver=openai/m,api_key=hidden", "solver=...: a model under test has no role"),
        ("User=openai/m,api_key=hidden", "'User' is no role; a role is a word of small letters"),
        ("=openai/m", "'' is no role"),
        ("user=", "the role 'user': unknown model spec ''"),
    ],
)
def test_a_wrong_role_is_told_with_its_fix_and_without_a_key(
    talk: Talk, typed: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        talk.run(talk.settings(talk.spec("alpha"), typed))
    assert "hidden" not in str(caught.value)


def test_a_recording_takes_one_model_of_each_role(talk: Talk) -> None:
    chosen = talk.settings(*named(talk), f"grader={talk.spec('beta')}", keep="kept.jsonl")
    told = "--llmeval-keep kept.jsonl takes one --llmeval-model grader=SPEC: a recording does not"
    with pytest.raises(UsageError, match=re.escape(told)):
        talk.run(chosen)


def test_the_scorer_judge_asks_the_models_of_its_role(talk: Talk) -> None:
    judged = "scorer: {judge: {role: grader, prefilter: false}}"
    talk.file.write_text(re.sub("scorer: .*", judged, talk.file.read_text()))
    talk.server.program(reply={"content": '{"answer_correct": 1, "reason": "so"}'}, keep=10_000)
    user = named(talk)[:2]
    _, rows = talk.run(talk.settings(*user, judges=[talk.spec("other")]))
    assert {row.outcome for row in rows} == {"unscored"}
    assert "no model is configured for the role 'grader'" in rows[0].scores[0].explanation
    assert {model for model, _ in talk.ledger()} == {"alpha", "beta"}

    talk.server.program(reply={"content": '{"answer_correct": 1, "reason": "so"}'}, keep=10_000)
    _, rows = talk.run(talk.settings(*named(talk)))
    assert {row.outcome for row in rows} == {"correct"}
    assert rows[0].scores[0].grader.endswith(f" by {talk.spec('gamma')}")


@pytest.mark.parametrize("role", ["solver", "The Judge", ""])
def test_a_scorers_role_that_is_none_is_told_before_anything_is_paid(talk: Talk, role: str) -> None:
    text = talk.file.read_text().replace("role: grader", f"role: {json.dumps(role)}")
    talk.file.write_text(text)
    _, rows = talk.run(talk.settings(*named(talk)))
    assert [row.outcome for row in rows] == ["error", "not run"]
    assert f"the role {role!r} of panel is none that a scorer can ask" in rows[0].explanation
    assert not talk.ledger()


def test_a_tasks_wrong_spec_is_told_with_its_line_before_anything_is_paid(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.program(keep=10_000)
    talk = Talk(tmp_path, model_server, of_task={"user": ["gpt-5.1"]})
    _, rows = talk.run(talk.settings(*named(talk)))
    assert [row.outcome for row in rows] == ["error", "not run"]
    assert re.search(r"talk.yaml:6: roles.user: unknown model spec", rows[0].explanation)
    assert not talk.ledger()
