"""Where an option's value comes from, and how each kind of value is read."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.ini import find_ini
from pytest_llmeval.session.options import (
    GROUPS,
    Option,
    all_options,
    argparse_arguments,
    options_called,
)
from pytest_llmeval.session.resolve import resolve
from pytest_llmeval.session.settings import Settings

TYPED_IN, ROOT = Path("/typed/in"), Path("/root")


@dataclass
class Given:
    """A source whose command line and ini file are mappings by option name."""

    line: Mapping[str, object] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    folder: Path = TYPED_IN
    root: Path = ROOT

    def typed(self, option: Option) -> object:
        return self.line.get(option.name)

    def ini(self, option: Option) -> str:
        return self.keys.get(option.name, "")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for option in all_options():
        monkeypatch.delenv(option.variable, raising=False)


def field_of(name: str, settings: Settings) -> Any:
    """Return the value of an option."""
    fields = {"model": "models", "judge": "judges", "sample": "samples", "set": "overrides"}
    if name in settings.domain or name == "graph":
        return settings.domain.get(name)
    return getattr(settings, fields.get(name, name.replace("-", "_")))


def test_every_option_has_a_flag_a_key_a_variable_and_a_group_of_the_help() -> None:
    names = [option.name for option in all_options()]
    assert len(names) == len(set(names)) == 26
    for option in all_options():
        under = option.name.replace("-", "_")
        assert (option.flag, option.key, option.variable) == (
            f"--llmeval-{option.name}",
            f"llmeval_{under}",
            f"LLMEVAL_{under.upper()}",
        )
        assert option.group in GROUPS


def test_nothing_given_are_the_defaults() -> None:
    assert resolve(Given()) == Settings(folder="/typed/in")


VALUES: list[tuple[str, object, str, Any]] = [
    ("model", ["openai/a"], "openai/a", ("openai/a",)),
    ("model", ["openai/a", "openai/b,stop='x y'"], '''openai/a "openai/b,stop='x y'"''', None),
    ("judge", ["openai/j"], "openai/j", ("openai/j",)),
    ("concurrency", "8", "8", 8),
    ("sample-timeout", "1.5", "1.5", 1.5),
    ("seed", "0", "0", 0),
    ("epochs", "3", "3", 3),
    ("limit", "10", "10", 10),
    ("limit", "50, seed=01", "50,seed=1", "50,seed=1"),
    ("sample", ["H01", "H 2"], "H01 'H 2'", ("H01", "H 2")),
    ("shard", "1/4", "1/4", (1, 4)),
    ("set", ["demo.a.b=c=d"], "demo.a.b=c=d", {"demo": {"a.b": "c=d"}}),
    ("budget", "5usd,2Mtok", "5usd,2Mtok", "5usd,2Mtok"),
    ("batch", "wait=12h", "wait=12h", "wait=12h"),
    ("estimate", True, "true", True),
    ("reuse", "old,max_age=7d", "old,max_age=7d", "old,max_age=7d"),
    ("keep", "replies.jsonl", "replies.jsonl", "replies.jsonl"),
    ("resume", "latest", "latest", "latest"),
    ("progress", "plain", "plain", "plain"),
    ("graph", "bolt://localhost", "bolt://localhost", "bolt://localhost"),
]


@pytest.mark.parametrize(("name", "typed", "text", "expected"), VALUES)
def test_a_value_means_the_same_on_the_line_in_a_variable_and_in_the_ini_file(
    monkeypatch: pytest.MonkeyPatch, name: str, typed: object, text: str, expected: Any
) -> None:
    (option,) = options_called([name])
    on_the_line = field_of(name, resolve(Given({name: typed})))
    if expected is not None:
        assert on_the_line == expected
    assert field_of(name, resolve(Given({}, {name: text}))) == on_the_line
    monkeypatch.setenv(option.variable, text)
    assert field_of(name, resolve(Given())) == on_the_line


@pytest.mark.parametrize(
    ("line", "variable", "ini", "expected"),
    [
        ({"limit": "1"}, "2", {"limit": "3"}, 1),
        ({}, "2", {"limit": "3"}, 2),
        ({}, "", {"limit": "3"}, 3),
        ({}, None, {"limit": "3"}, 3),
        ({}, None, {"limit": ""}, None),
        ({}, None, {}, None),
    ],
    ids=["line", "variable", "an empty variable is none", "ini", "an empty key is none", "none"],
)
def test_the_line_goes_before_the_variable_and_that_before_the_ini_file(
    monkeypatch: pytest.MonkeyPatch,
    line: dict[str, object],
    variable: str | None,
    ini: dict[str, str],
    expected: int | None,
) -> None:
    if variable is not None:
        monkeypatch.setenv("LLMEVAL_LIMIT", variable)
    assert resolve(Given(line, ini)).limit == expected


def test_a_list_on_the_line_replaces_the_one_of_the_ini_file() -> None:
    given = Given({"model": ["openai/a"]}, {"model": "openai/b openai/c"})
    assert resolve(given).models == ("openai/a",)


@pytest.mark.parametrize("name", ["prices", "report", "baseline", "gate"])
def test_a_path_starts_where_it_stands(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (option,) = options_called([name])
    assert field_of(name, resolve(Given({name: "x/../y"}))) == "/typed/in/y"
    assert field_of(name, resolve(Given({}, {name: "y"}))) == "/root/y"
    monkeypatch.setenv(option.variable, "y")
    assert field_of(name, resolve(Given({}, {name: "z"}))) == "/typed/in/y"
    assert field_of(name, resolve(Given({name: "/abs/y"}))) == "/abs/y"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", True), ("True", True), ("yes", True), ("on", True), ("0", False), ("false", False)],
)
def test_a_flag_is_switched_by_a_word(text: str, *, expected: bool) -> None:
    assert resolve(Given({}, {"estimate": text})).estimate is expected


COUNT = "is not a whole number from 1 on"
LIMIT = f"{COUNT}, or one with a seed, such as 50,seed=1"
SEED = "is not a whole number from 0 on"
SECONDS = "is not a number above 0"
SHARD = "is not of the form I/N with I from 1 to N, such as 1/4"
WRONG = [
    *((name, text, COUNT) for name in ("concurrency", "epochs") for text in ("0", "x")),
    *(("limit", text, LIMIT) for text in ("0", "x", "-1", "1.5", "1e3", "nan", "inf")),
    *(("limit", text, LIMIT) for text in ("5,seed=-1", "5,sed=1", "0,seed=1", "5,seed=1,seed=2")),
    *(("seed", text, SEED) for text in ("-1", "x", "1.0", str(2**53))),
    *(("sample-timeout", text, SECONDS) for text in ("0", "-2", "x", "nan", "inf", "1 s")),
    *(("shard", text, SHARD) for text in ("0/4", "5/4", "4", "1/0", "1/2/3", "a/b", "-1/4")),
]


@pytest.mark.parametrize(("name", "text", "says"), WRONG)
def test_a_value_of_another_form_is_refused_where_it_stands(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, says: str
) -> None:
    (option,) = options_called([name])
    with pytest.raises(UsageError) as refused:
        resolve(Given({name: text}))
    assert str(refused.value) == f"--llmeval-{name}: {text!r} {says}"
    with pytest.raises(UsageError) as refused:
        resolve(Given({}, {name: text}))
    assert str(refused.value) == f"ini key {option.key}: {text!r} {says}"
    monkeypatch.setenv(option.variable, text)
    with pytest.raises(UsageError) as refused:
        resolve(Given())
    assert str(refused.value) == f"{option.variable}: {text!r} {says}"


@pytest.mark.parametrize(
    "text", ["demo", "demo.a", "demo=1", "demo.=1", ".a=1", "demo.a=", "=", ""]
)
def test_an_override_of_another_form_is_refused(text: str) -> None:
    told = rf"--llmeval-set: '{text}' is not of the form TASK\.KEY=VALUE"
    with pytest.raises(UsageError, match=told):
        resolve(Given({"set": [text]}))


def test_overrides_are_kept_by_task_and_the_last_of_a_key_counts() -> None:
    texts = ["a.x=1", "b.x=2", "a.y.z=3", "a.x=4", "a.scorer+=judge"]
    assert resolve(Given({"set": texts})).overrides == {
        "a": {"x": "4", "y.z": "3", "scorer+": "judge"},
        "b": {"x": "2"},
    }


def parsed(name: str, *arguments: str) -> object:
    """Return what a parser of the option reads from a command line."""
    (option,) = options_called([name])
    parser = argparse.ArgumentParser()
    parser.add_argument(option.flag, **argparse_arguments(option))
    return getattr(parser.parse_args(list(arguments)), option.key)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("model", ["--llmeval-model", "a", "--llmeval-model", "b"], ["a", "b"]),
        ("limit", ["--llmeval-limit", "5", "--llmeval-limit=6"], "6"),
        ("estimate", ["--llmeval-estimate"], True),
        ("resume", ["--llmeval-resume"], "latest"),
        ("resume", ["--llmeval-resume", "run"], "run"),
        ("limit", [], None),
        ("estimate", [], None),
    ],
)
def test_a_parser_declares_an_option_by_its_kind(
    name: str, arguments: list[str], expected: object
) -> None:
    assert parsed(name, *arguments) == expected


def test_some_options_are_found_by_name_in_the_order_of_the_table() -> None:
    assert [option.name for option in options_called(["prices", "model", "nothing"])] == [
        "model",
        "prices",
    ]


def test_settings_are_plain_json_and_hold_every_option() -> None:
    data = resolve(Given({"graph": "x", "set": ["a.b=c"], "shard": "1/2"})).to_json()
    assert data["domain"] == {"graph": "x"}
    assert data["overrides"] == {"a": {"b": "c"}}


def test_registering_the_options_loads_nothing_heavy() -> None:
    heavy = "{'pydantic', 'jinja2', 'yaml', 'asyncio', 'msgspec', 'numpy', 'rich'}"
    code = (
        "import pytest_llmeval.session.options as o, sys; o.all_options(); "
        f"print(*{heavy} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


INI: list[tuple[str, str]] = [
    ("pyproject.toml", '[tool.pytest.ini_options]\nllmeval_limit = "3"\n'),
    ("pyproject.toml", '[tool.pytest]\nllmeval_limit = "3"\n'),
    ("pytest.toml", '[pytest]\nllmeval_limit = "3"\n'),
    (".pytest.toml", '[pytest]\nllmeval_limit = "3"\n'),
    ("pytest.ini", "[pytest]\nllmeval_limit = 3\n"),
    (".pytest.ini", "[pytest]\nllmeval_limit = 3\n"),
    ("tox.ini", "[tox]\nenvlist = x\n[pytest]\nllmeval_limit = 3\n"),
]


@pytest.mark.parametrize(("name", "text"), INI)
def test_the_keys_of_pytests_own_files_hold_below_their_folder(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    for folder in (tmp_path, below):
        found = find_ini(folder)
        assert (found.root, found.keys["llmeval_limit"]) == (tmp_path, "3")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.other]\nllmeval_limit = "3"\n'),
        ("pyproject.toml", '[pytest]\nllmeval_limit = "3"\n'),
        ("pyproject.toml", "[tool\n"),
        ("pyproject.toml", "tool = 5\n"),
        ("tox.ini", "[tox]\nllmeval_limit = 3\n"),
        ("tox.ini", "llmeval_limit = 3\n"),
        ("setup.cfg", "[pytest]\nllmeval_limit = 3\n"),
    ],
)
def test_a_file_without_pytests_section_has_no_keys(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nllmeval_limit = 7\n")
    below = tmp_path / "below"
    below.mkdir()
    (below / name).write_text(text)
    assert find_ini(below).keys["llmeval_limit"] == "7"


def test_without_any_file_there_are_no_keys(tmp_path: Path) -> None:
    folder = tmp_path / "alone"
    folder.mkdir()
    (folder / "pytest.ini").write_text("")
    found = find_ini(folder)
    assert (found.root, found.keys) == (folder, {})


def test_the_first_of_several_files_counts(tmp_path: Path) -> None:
    (tmp_path / "tox.ini").write_text("[pytest]\nllmeval_limit = 1\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nllmeval_limit = 2\n")
    assert find_ini(tmp_path).keys["llmeval_limit"] == "2"


def test_percent_signs_of_an_ini_file_are_plain_text(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nlog_format = %(message)s\n")
    assert find_ini(tmp_path).keys["log_format"] == "%(message)s"


def test_values_of_toml_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nllmeval_limit = "3"\naddopts = ["-q"]\nxfail_strict = true\n'
    )
    assert find_ini(tmp_path).keys == {"llmeval_limit": "3"}
