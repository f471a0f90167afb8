"""What may stand after --llmeval-model."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.engine.spec_settings import PATIENCE, TIMEOUT, ModelLimits
from pytest_llmeval.engine.specs import parse_spec, parse_specs, share_limits
from pytest_llmeval.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a recording and a model of one's own."""
    (tmp_path / "replies.jsonl").touch()
    (tmp_path / "model.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("openai/gpt-5.1", "openai", "gpt-5.1"),
        ("openai/meta-llama/Llama-3.3-70B", "openai", "meta-llama/Llama-3.3-70B"),
        ("azure/my-deployment", "azure", "my-deployment"),
        ("python/./model.py:reply", "python", "./model.py:reply"),
    ],
)
def test_a_spec_is_kind_and_name(folder: Path, text: str, kind: str, name: str) -> None:
    spec = parse_spec(text, folder=folder)
    assert (spec.kind, spec.name, spec.label, spec.text) == (kind, name, text, text)
    assert not spec.recorded


def test_a_recording_is_found_from_the_folder_and_called_as_typed(folder: Path) -> None:
    spec = parse_spec("replay/replies.jsonl", folder=folder)
    assert spec.name == str((folder / "replies.jsonl").resolve())
    assert spec.label == "replay/replies.jsonl"
    assert spec.recorded


def test_a_model_of_ones_own_has_the_same_name_on_every_machine(folder: Path) -> None:
    assert str(folder) not in parse_spec("python/./model.py:reply", folder=folder).name


@pytest.mark.parametrize(
    ("settings", "parameters"),
    [
        ("", {}),
        (",temperature=0.2,top_k=5", {"temperature": 0.2, "top_k": 5}),
        (",temperature=1e-3", {"temperature": 0.001}),
        (",reasoning_effort=high", {"reasoning_effort": "high"}),
        (",temperature=null", {"temperature": None}),
        (',stop=["a,b","c=d"],n=1', {"stop": ["a,b", "c=d"], "n": 1}),
        (',response_format={"type":"json_object"}', {"response_format": {"type": "json_object"}}),
        (",note=a, b", {"note": "a, b"}),
        (",top_p=NaN", {"top_p": "NaN"}),
    ],
)
def test_settings_behind_commas_are_parameters_of_json_or_text(
    folder: Path, settings: str, parameters: dict[str, Any]
) -> None:
    spec = parse_spec(f"openai/m{settings}", folder=folder)
    assert (spec.text, spec.label, spec.parameters) == (
        "openai/m",
        f"openai/m{settings}",
        parameters,
    )


def test_three_settings_tell_how_a_model_is_reached(folder: Path) -> None:
    text = "openai/m,base_url=http://localhost:8000/v1,api=responses,key=VLLM_API_KEY,temperature=0"
    spec = parse_spec(text, folder=folder)
    assert spec.options == {
        "base_url": "http://localhost:8000/v1",
        "api": "responses",
        "key": "VLLM_API_KEY",
    }
    assert spec.parameters == {"temperature": 0}
    assert spec.bare.label == "openai/m,api=responses,base_url=http://localhost:8000/v1"


def test_settings_of_one_model_share_the_model_and_other_addresses_do_not(folder: Path) -> None:
    cold, warm, other = (
        parse_spec(f"openai/m,{setting}", folder=folder)
        for setting in ("temperature=0", "temperature=1,key=MY_KEY", "base_url=http://x/v1")
    )
    assert replace(cold, seed=3).bare == cold.bare
    assert cold.bare != warm.bare, "another key is another account"
    assert cold.bare.label == warm.bare.label == "openai/m"
    assert other.bare != cold.bare
    recorded = parse_spec("replay/replies.jsonl,temperature=0", folder=folder)
    assert recorded.bare == parse_spec("replay/replies.jsonl", folder=folder)


def test_what_the_spec_says_goes_before_seed_and_seed_before_the_task(folder: Path) -> None:
    spec = replace(parse_spec("openai/m,top_p=0.5,temperature=null", folder=folder), seed=7)
    task = {"temperature": 0.6, "top_p": 0.9, "max_tokens": 5, "seed": 1}
    assert spec.requested(task, epoch=1, draw=0) == {"top_p": 0.5, "max_tokens": 5, "seed": 7}
    fixed = replace(parse_spec("openai/m,seed=9", folder=folder), seed=7)
    assert fixed.requested(task, epoch=2, draw=0)["seed"] == 9


def test_every_epoch_and_draw_has_a_seed_of_its_own(folder: Path) -> None:
    spec = replace(parse_spec("openai/m", folder=folder), seed=7)
    seeds = [
        spec.requested({}, epoch=epoch, draw=draw)["seed"]
        for epoch in (1, 2, 3)
        for draw in range(20)
    ]
    assert seeds[0] == 7
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("openai/m", "openai/m"),
        ("openai/m,temperature=0.2", "openai/m,temperature=0.20"),
        ("openai/m,a=1,b=2", "openai/m,b=2,a=1"),
        ("openai/m", "openai/m,rpm=60"),
    ],
)
def test_a_model_that_only_repeats_another_is_refused(folder: Path, one: str, other: str) -> None:
    with pytest.raises(
        UsageError, match=f"'{other}' is the same model as '{one}'; --llmeval-epochs K repeats"
    ):
        parse_specs([one, other], folder=folder)
    assert len(parse_specs([one, f"{one},top_p=1"], folder=folder)) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("openai/m,temperature=", "temperature has no value; null leaves a parameter out"),
        ("openai/m,n=1,n=2", "n stands there twice"),
        ("openai/m,api=chats", "api is 'chats'; openai/ and azure/ models take chat or responses"),
        ("python/./model.py:reply,base_url=http://x", "python/ models take no base_url"),
        ("replay/replies.jsonl,key=MY_KEY", "replay/ models take no key"),
        ("openai/m,base_url=localhost:8000", "base_url: 'localhost:8000' is no address"),
        (
            "openai/m,base_url=http://me:hunter22@x/v1",
            "base_url: the address holds a user or password",
        ),
        ("openai/m,base_url=http://x/v1?key=hunter22", "base_url: the address holds a query"),
        ("openai/m,key=hunter22", "key names an environment variable such as VLLM_API_KEY"),
        ("openai/m,key=", "key names an environment variable"),
        ("openai/m,key=sk-hunter22_KEY", "key names an environment variable"),
        ("openai/m,rpm=", "rpm is ''; expected a number above 0"),
        ("openai/m,tpm=-1", "tpm is '-1'; expected a number above 0"),
        ("openai/m,timeout=inf", "timeout is 'inf'; expected a number above 0"),
        ("openai/m,patience=nan", "patience is 'nan'; expected a number above 0"),
        (
            "openai/m,concurrency=1.5",
            "model spec 'openai/m,concurrency=1.5': concurrency is '1.5'; expected a whole number",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_and_no_secret_is_shown(
    folder: Path, text: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)) as caught:
        parse_spec(text, folder=folder)
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("openai/gpt-5.1", True),
        ("openai/o3", True),
        ("openai/o3-mini", False),
        ("openai/openai/gpt-oss-120b", False),
        ("openai/o3-mini,vision=on", True),
        ("openai/some-text-model,vision=off", False),
        ("azure/o3-mini", True),  # a deployment's name says nothing
    ],
)
def test_which_models_read_pictures_is_known_of_a_few_and_else_told(
    folder: Path,
    text: str,
    reads: bool,  # noqa: FBT001 - an expectation from the table
) -> None:
    assert parse_spec(text, folder=folder).reads_pictures is reads


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unknown model spec ''; expected one of openai/NAME"),
        ("gpt-5.1", "unknown model spec 'gpt-5.1'"),
        ("openai/", "unknown model spec 'openai/'"),
        ("nobody/claude", "unknown model spec 'nobody/claude'"),
        ("OpenAI/gpt", "unknown model spec 'OpenAI/gpt'"),
        ("replay/nowhere.jsonl", "model spec 'replay/nowhere.jsonl': no file at .*nowhere"),
        ("replay/.", "model spec 'replay/.': no file at"),
        ("python/./model.py", "names no callable; expected python/./file.py:callable"),
        ("python/./model.py:", "names no callable"),
        ("python/./model.py:not a name", "names no callable"),
        ("python/./nowhere.py:reply", r"no file at .*nowhere\.py"),
        ("python/:reply", "no file at"),
    ],
)
def test_anything_else_is_refused_with_its_text_and_the_forms(
    folder: Path, text: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_spec(text, folder=folder)


def test_limits_are_read_and_stand_neither_in_requests_nor_in_the_label(folder: Path) -> None:
    text = "openai/m,rpm=60,temperature=0,tpm=9e4,concurrency=16,timeout=30,patience=5"
    spec = parse_spec(text, folder=folder)
    assert spec.limits == ModelLimits(rpm=60, tpm=90_000, concurrency=16, timeout=30, patience=5)
    assert (spec.timeout, spec.patience) == (30, 5)
    assert spec.label == "openai/m,temperature=0"
    assert (spec.options, spec.parameters, spec.route) == ({}, {"temperature": 0}, "")
    plain = parse_spec("openai/m,temperature=0", folder=folder)
    assert (plain.timeout, plain.patience) == (TIMEOUT, PATIENCE)
    assert (spec, spec.bare, hash(spec)) == (plain, plain.bare, hash(plain))
    assert spec.bare.limits == spec.limits


def test_functions_and_recordings_take_limits(folder: Path) -> None:
    assert (
        parse_spec("python/./model.py:reply,concurrency=1", folder=folder).limits.concurrency == 1
    )
    assert parse_spec("replay/replies.jsonl,rpm=1", folder=folder).label == "replay/replies.jsonl"


def test_specs_of_one_model_share_the_limits_that_any_of_them_names(folder: Path) -> None:
    cold, warm = parse_specs(
        ["openai/m,temperature=0,rpm=60", "openai/m,temperature=1,tpm=900"], folder=folder
    )
    assert cold.limits == warm.limits == ModelLimits(rpm=60, tpm=900)
    judge = parse_spec("openai/m,rpm=30", folder=folder)
    with pytest.raises(
        UsageError, match="openai/m: rpm is 60 in one spec and 30 in another; a model has one set"
    ):
        share_limits((cold, judge))
