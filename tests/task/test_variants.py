"""Variants of a task, and tasks that extend others: which values hold, and where each stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.layer import merged

SUMS = """\
name: sums
dataset: {path: rows.jsonl}
prompt: "{{ input }}"
generate: {temperature: 0, max_tokens: 10}
scorer: {number: {absolute: 1}}
variants:
  terse: {prompt: "Only the number. {{ input }}"}
  long:
    generate: {max_tokens: 500, temperature: null}
    scorer: {number: {relative: 0.1}}
  text: {scorer: exact, version: 2}
"""
ROWS = '{"id": 1, "input": "1 + 1", "target": "2"}\n{"id": 2, "input": "1 + 2", "target": "3"}\n'


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text(ROWS)
    return written(tmp_path / "sums.yaml", SUMS)


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def variant(file: Path, name: str) -> Task:
    return load_task(f"{file}[{name}]")


def told(file: Path, text: str) -> str:
    """Return what is told of a task file with this text."""
    with pytest.raises(TaskError) as caught:
        Catalog(folder=file.parent).load(written(file, text))
    return str(caught.value)


def test_each_variant_is_the_task_with_its_own_values(sums: Path) -> None:
    terse, long, text = (variant(sums, name) for name in ("terse", "long", "text"))
    assert [one.name for one in (terse, long, text)] == ["sums[terse]", "sums[long]", "sums[text]"]
    assert terse.prompt["generate"][0].text == "Only the number. {{ input }}"
    assert long.prompt["generate"][0].text == "{{ input }}"
    assert terse.generate == {"temperature": 0, "max_tokens": 10}
    assert long.generate == {"temperature": None, "max_tokens": 500}
    assert dict(long.scorer[0].options) == {"absolute": 1, "relative": 0.1}
    assert (text.scorer[0].name, text.version, terse.version) == ("exact", 2, 1)
    assert len({one.settings_digest for one in (terse, long, text)}) == 3


def test_a_file_with_variants_has_an_address_for_each(sums: Path) -> None:
    catalog = Catalog(folder=sums.parent)
    addresses = catalog.addresses(sums)
    assert [one.name for one in addresses] == [
        "sums.yaml[terse]",
        "sums.yaml[long]",
        "sums.yaml[text]",
    ]
    assert [len(catalog.load(one).samples) for one in addresses] == [2, 2, 2]
    plain = written(sums.parent / "plain.yaml", SUMS.partition("variants")[0])
    assert catalog.addresses(plain) == (plain,)
    with pytest.raises(TaskError, match="has the variants terse, long, text; name one"):
        load_task(sums)
    with pytest.raises(TaskError, match=r"has no variant 'short' \(it has: terse, long, text\)"):
        variant(sums, "short")


def test_overrides_reach_all_variants_or_one(sums: Path) -> None:
    overrides = {
        "sums": {
            "generate.max_tokens": "7",
            "variants.terse.generate.max_tokens": "8",
            "variants.text.scorer+": "includes",
        },
        "sums[long]": {"version": "5"},
    }
    catalog = Catalog(folder=sums.parent, overrides=overrides)
    terse, long, text = (catalog.load(one).task for one in catalog.addresses(sums))
    assert [one.generate["max_tokens"] for one in (terse, long, text)] == [8, 7, 7]
    assert [one.name for one in text.scorer] == ["exact", "includes"]
    assert [one.version for one in (terse, long, text)] == [1, 5, 2]


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (
            "variants.tersee.prompt",
            "write variants.NAME.KEY, with the name of a variant (there are",
        ),
        ("variants.terse", "write variants.NAME.KEY"),
        ("variants", "write variants.NAME.KEY"),
        ("variants.terse.name", "a task's name cannot be overridden"),
        ("variants.terse.generate", "--llmeval-set sums.variants.terse.generate=1: is 1"),
    ],
)
def test_a_wrong_override_of_a_variant_is_told(key: str, says: str, sums: Path) -> None:
    catalog = Catalog(folder=sums.parent, overrides={"sums": {key: "1"}})
    with pytest.raises(UsageError) as caught:
        catalog.load(catalog.addresses(sums)[0])
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("variants", "says"),
    [
        ("{}", "sums.yaml:6: variants: is {}; write the keys of each"),
        ("[a]", "sums.yaml:6: variants: is ['a']"),
        ("{a b: {}}", "variants.a b: is no name of letters"),
        ("{a: 1}", "variants.a: is 1, not a mapping of keys"),
        ("{a: {name: b}}", "variants.a.name: cannot differ between variants"),
        ("{a: {variants: {}}}", "variants.a.variants: cannot differ"),
    ],
)
def test_wrong_variants_are_told_with_their_line(variants: str, says: str, sums: Path) -> None:
    text = f"{SUMS.partition('variants')[0]}variants: {variants}\n"
    with pytest.raises(TaskError) as caught:
        Catalog(folder=sums.parent).addresses(written(sums, text))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "    promt: x\n",
            "sums.yaml:13: variants.new.promt: is not a key here; did you mean 'prompt'",
        ),
        ("    version: x\n", "sums.yaml:13: variants.new.version: is 'x'"),
        ("    prompt: '{{ x'\n", "sums.yaml:13: variants.new.prompt: is not valid jinja2"),
        (
            "    scorer: {number: {unti: 1}}\n",
            "sums.yaml:13: variants.new.scorer.number.unti: is not",
        ),
    ],
)
def test_a_mistake_in_a_variant_is_told_where_it_stands(line: str, says: str, sums: Path) -> None:
    assert says in told_of(sums, f"{SUMS}  new:\n{line}", "new")


def test_a_mistake_that_variants_share_is_told_where_it_stands(sums: Path) -> None:
    text = SUMS.replace("absolute: 1", "absolut: 1")
    assert "sums.yaml:5: scorer.number.absolut: is not an option" in told_of(sums, text, "terse")
    assert "sums.yaml:5: scorer.number.absolut: is not an option" in told_of(sums, text, "long")


def told_of(file: Path, text: str, name: str) -> str:
    written(file, text)
    with pytest.raises(LLMEvalError) as caught:
        variant(file, name)
    return str(caught.value)


LEAVES: st.SearchStrategy[Any] = st.none() | st.integers(0, 3) | st.lists(st.integers(0, 3))
TREES: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(LEAVES, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_size=4,
)


@given(base=TREES, over=TREES)
def test_merging_takes_every_value_of_the_later_one_and_loses_nothing_else(
    base: dict[str, Any], over: dict[str, Any]
) -> None:
    def at(tree: Any, path: tuple[str, ...]) -> Any:
        for key in path:
            tree = tree[key]
        return tree

    def leaves(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
        if not isinstance(tree, dict) or not tree:
            return {path: tree}
        return {k: v for key, inner in tree.items() for k, v in leaves(inner, (*path, key)).items()}

    found = merged(base, over)
    later = {path: value for path, value in leaves(over).items() if path and value != {}}
    assert all(at(found, path) == value for path, value in later.items())
    for path, value in leaves(base).items():
        replaced = any(path[: len(one)] == one or one[: len(path)] == path for one in later)
        assert replaced or not path or at(found, path) == value or value == {} or _cut(over, path)
    assert merged(base, {}) == base


def _cut(over: Any, path: tuple[str, ...]) -> bool:
    """Whether a value of `over` that is no mapping stands on the way along `path`."""
    for key in path:
        if not isinstance(over, dict) or key not in over:
            return not isinstance(over, dict)
        over = over[key]
    return True


BASE = """\
name: base
dataset: {path: rows.jsonl}
prompt: "{{ input }}"
generate: {temperature: 0}
scorer: {./own.py:mine: {}}
variants: {a: {version: 2}, b: {version: 3}}
"""


def test_a_task_extends_another_whose_paths_start_from_its_own_folder(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    written(shared / "rows.jsonl", ROWS)
    written(shared / "own.py", "def mine(answer, sample):\n    return True\n")
    written(shared / "prompts" / "ask.md", "Ask {{ input }}")
    written(shared / "base.yaml", BASE.replace('"{{ input }}"', "[{user: {file: prompts/ask.md}}]"))
    middle = written(
        tmp_path / "middle.yaml", "name: m\nextends: shared/base.yaml\nanswer: tagged\n"
    )
    text = "name: top\nextends: middle.yaml\ngenerate: {max_tokens: 5}\n"
    text += "variants: {a: {answer: whole}}\n"
    top = written(tmp_path / "top.yaml", text)
    a, b = (variant(top, name) for name in "ab")
    assert (a.name, a.version, a.answer) == ("top[a]", 2, "whole")
    assert (b.name, b.version, b.answer) == ("top[b]", 3, "tagged")
    assert b.generate == {"temperature": 0, "max_tokens": 5}
    assert b.dataset.path == shared / "rows.jsonl"
    assert b.prompt["generate"][0].text == "Ask {{ input }}"
    assert b.scorers[0].scorer.name == "mine"
    assert variant(middle, "a").name == "m[a]"


def test_a_mistake_in_an_extended_file_is_told_with_that_file(sums: Path) -> None:
    base = written(sums.parent / "base.yaml", "generate: 3\n")
    text = f"name: x\nextends: base.yaml\n{SUMS.partition('generate')[0][11:]}"
    assert f"{base}:1: generate: is 3" in told(sums, text)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            {"sums": "sums"},
            "sums.yaml:2: extends: leads back to where it begins: sums.yaml extends",
        ),
        ({"sums": "a", "a": "b", "b": "a"}, "a.yaml extends b.yaml extends a.yaml"),
        ({"sums": "nothing"}, "which is not a file"),
    ],
)
def test_circles_and_missing_files_are_told(files: dict[str, str], says: str, sums: Path) -> None:
    for name, base in files.items():
        written(sums.parent / f"{name}.yaml", f"name: {name}\nextends: {base}.yaml\n")
    assert says in told(sums, sums.read_text())


@pytest.mark.parametrize("value", ["3", "[a.yaml]", "''", "null"])
def test_extends_takes_one_path(value: str, sums: Path) -> None:
    assert "not the path of a task file" in told(sums, f"name: x\nextends: {value}\n")


def test_a_task_needs_a_name_of_its_own(sums: Path) -> None:
    written(sums.parent / "base.yaml", SUMS.partition("variants")[0])
    assert "name: is missing" in told(sums, "extends: base.yaml\n")
    assert "name" in told(sums, yaml.safe_dump({"name": "a[b]", "dataset": {"path": "rows.jsonl"}}))


def test_an_extended_file_elsewhere_brings_no_code(sums: Path) -> None:
    elsewhere = sums.parent / "elsewhere"
    written(elsewhere / "own.py", "def mine(answer, sample):\n    return True\n")
    written(elsewhere / "base.yaml", "scorer: ./own.py:mine\n")
    text = SUMS.partition("scorer")[0] + "extends: ../elsewhere/base.yaml\n"
    inner = written(sums.parent / "inner" / "task.yaml", text)
    (inner.parent / "rows.jsonl").write_text(ROWS)
    assert "'../elsewhere/own.py' leaves the task's folder" in told(inner, text)
