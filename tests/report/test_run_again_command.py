"""The command that a sample's page offers to run it again."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from report.html_run import row

from pytest_llmeval.report.again import LEFT_OUT, SINGLE, again
from pytest_llmeval.session.options import TABLE
from pytest_llmeval.session.settings import Settings

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(nodeid=TEXT, model=TEXT, value=TEXT)
def test_a_shell_reads_whatever_the_ids_are_as_single_words(
    nodeid: str, model: str, value: str
) -> None:
    settings = Settings(models=(model,), overrides={"task": {"key": value}}).to_json()
    command = again(replace(row("task[a]", "1", "correct"), nodeid=nodeid), settings)
    assert shlex.split(command) == [
        "pytest", nodeid, "--llmeval-model", model, "--llmeval-set", f"task.key={value}",
    ]  # fmt: skip


def test_models_judges_roles_and_data_are_those_of_the_run() -> None:
    settings = Settings(
        models=("openai/a", "openai/b"), judges=("openai/j",), roles={"user": ("openai/u",)},
        epochs=3, limit="50,seed=1", seed=7, overrides={"other": {"key": "1"}},
        domain={"heracles-engine": "arcadedb"}, budget="5usd", gate="/gates.yaml", shard=(1, 4),
    )  # fmt: skip
    one = row("sums", "1", "correct")
    assert shlex.split(again(one, settings.to_json()))[2:] == [
        "--llmeval-model", "openai/a", "--llmeval-model", "openai/b",
        "--llmeval-judge", "openai/j", "--llmeval-model", "user=openai/u",
        "--llmeval-epochs", "3", "--llmeval-limit", "50,seed=1", "--llmeval-seed", "7",
        "--llmeval-heracles-engine", "arcadedb",
    ]  # fmt: skip


def test_a_recorded_run_of_an_earlier_version_needs_the_node_id_alone() -> None:
    one = row("sums", "1", "correct")
    assert again(one, {}) == again(one, Settings().to_json()) == f"pytest '{one.nodeid}'"


def test_every_option_is_repeated_or_left_out_on_purpose() -> None:
    repeated = {"models", "judges", "roles", "overrides", "domain", *SINGLE}
    assert set(Settings().to_json()) == repeated | LEFT_OUT
    names = {one.name.replace("-", "_") for one in TABLE}
    assert set(SINGLE) <= names
