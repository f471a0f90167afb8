"""One value of a task set from the command line."""

from __future__ import annotations

import copy
import shlex
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import UsageError
from pytest_llmeval.task.override import Override
from pytest_llmeval.task.section import PlacedText

FOLDER = Path("/typed/here")
Data = dict[str, Any]


def applied(data: Data, key: str, value: str) -> Data:
    """Return a copy of `data` with an override."""
    changed = copy.deepcopy(data)
    Override("demo", key, value, FOLDER).apply(changed)
    return changed


@pytest.mark.parametrize(
    ("data", "key", "value", "expected"),
    [
        ({}, "answer", "whole", {"answer": "whole"}),
        ({"answer": "tagged"}, "answer", "whole", {"answer": "whole"}),
        ({}, "generate.temperature", "0", {"generate": {"temperature": 0}}),
        (
            {"generate": {"top_p": 1}},
            "generate.temperature",
            "0.5",
            {"generate": {"top_p": 1, "temperature": 0.5}},
        ),
        ({}, "a.b.c", "null", {"a": {"b": {"c": None}}}),
        ({}, "generate.stop", "[a, b]", {"generate": {"stop": ["a", "b"]}}),
        ({}, "scorer", "{eed: {minimum: 60}}", {"scorer": {"eed": {"minimum": 60}}}),
        ({"scorer": "eed"}, "scorer.eed.minimum", "60", {"scorer": {"eed": {"minimum": 60}}}),
        (
            {"scorer": {"eed": {"mode": "published"}}},
            "scorer.eed.minimum",
            "60",
            {"scorer": {"eed": {"mode": "published", "minimum": 60}}},
        ),
    ],
)
def test_a_dotted_key_leads_through_mappings(
    data: Data, key: str, value: str, expected: Data
) -> None:
    assert applied(data, key, value) == expected


@pytest.mark.parametrize(
    ("scorers", "expected"),
    [
        (["exact", "judge"], ["exact", {"judge": {"votes": 3}}]),
        (["judge", "exact"], [{"judge": {"votes": 3}}, "exact"]),
        ([{"judge": {"votes": 1}}], [{"judge": {"votes": 3}}]),
        (
            [{"eed": {"mode": "published"}}, {"judge": {"prefilter": False}}],
            [{"eed": {"mode": "published"}}, {"judge": {"prefilter": False, "votes": 3}}],
        ),
        ([{"judge": None}], [{"judge": {"votes": 3}}]),
        (
            [{"judge": {"name": "one"}}, {"judge": {"name": "two"}}],
            [{"judge": {"name": "one", "votes": 3}}, {"judge": {"name": "two"}}],
        ),
    ],
    ids=["a name", "the first", "options", "beside others", "empty options", "the first of two"],
)
def test_an_entry_of_a_list_is_found_by_its_name(scorers: list[Any], expected: list[Any]) -> None:
    data = {"scorer": scorers}
    before = copy.deepcopy(data)
    assert applied(data, "scorer.judge.votes", "3") == {"scorer": expected}
    assert data == before


@pytest.mark.parametrize(
    ("name", "changed"), [("faithful", 0), ("polite", 1), ("judge", 0), ("exact", 2)]
)
def test_a_scorer_of_a_list_is_found_by_its_own_name_before_its_kind(
    name: str, changed: int
) -> None:
    scorers: list[Data] = [
        {"judge": {"name": "faithful"}},
        {"judge": {"name": "polite"}},
        {"exact": {}},
    ]
    data: Data = {"scorer": scorers}
    expected = copy.deepcopy(scorers)
    next(iter(expected[changed].values()))["votes"] = 3
    assert applied(data, f"scorer.{name}.votes", "3") == {"scorer": expected}
    below = applied({"variants": {"terse": data}}, f"variants.terse.scorer.{name}.votes", "3")
    assert below == {"variants": {"terse": {"scorer": expected}}}


def test_a_single_scorer_is_found_by_its_own_name() -> None:
    data: Data = {"scorer": {"judge": {"name": "faithful"}}}
    expected = {"scorer": {"judge": {"name": "faithful", "votes": 3}}}
    assert applied(data, "scorer.faithful.votes", "3") == expected


def test_scorers_are_listed_by_the_names_that_find_them() -> None:
    scorers = [{"judge": {"name": "faithful"}}, {"judge": {"name": "polite"}}, "exact"]
    with pytest.raises(UsageError, match=r"has no 'kind' \(it has: faithful, polite, exact\)"):
        applied({"scorer": scorers}, "scorer.kind.votes", "3")


@pytest.mark.parametrize(
    ("data", "value", "expected"),
    [
        ({}, "judge", ["judge"]),
        ({"scorer": None}, "judge", ["judge"]),
        ({"scorer": "eed"}, "judge", ["eed", "judge"]),
        ({"scorer": {"eed": {"minimum": 60}}}, "judge", [{"eed": {"minimum": 60}}, "judge"]),
        ({"scorer": ["eed", "sldp"]}, "judge", ["eed", "sldp", "judge"]),
        ({"scorer": []}, "{judge: {votes: 3}}", [{"judge": {"votes": 3}}]),
    ],
    ids=["missing", "empty", "a name", "a mapping", "a list", "with options"],
)
def test_a_plus_appends_to_what_is_there(data: Data, value: str, expected: list[Any]) -> None:
    assert applied(data, "scorer+", value) == {"scorer": expected}


def test_a_plus_appends_below_other_keys() -> None:
    data = {"dataset": {"fields": {"tags": "kind"}}}
    expected = {"dataset": {"fields": {"tags": ["kind", "level"]}}}
    assert applied(data, "dataset.fields.tags+", "level") == expected


def test_a_value_that_is_appended_leaves_the_list_of_the_file_as_it_was() -> None:
    scorers = ["eed"]
    data: Data = {"scorer": scorers}
    Override("demo", "scorer+", "judge", FOLDER).apply(data)
    assert scorers == ["eed"]


@pytest.mark.parametrize(
    ("data", "key", "value", "says"),
    [
        ({}, "name", "other", "a task's name cannot be overridden"),
        ({"answer": "whole"}, "answer.rule", "x", "answer is 'whole', not a mapping"),
        ({"version": 1}, "version.major", "2", "version is 1, not a mapping"),
        ({"scorer": "eed"}, "scorer.sldp.tolerance", "1", "scorer is 'eed', not a mapping"),
        (
            {"scorer": ["eed", {"judge": {}}]},
            "scorer.sldp.tolerance",
            "1",
            "scorer has no 'sldp' (it has: eed, judge)",
        ),
        ({"scorer": []}, "scorer.sldp.tolerance", "1", "scorer has no 'sldp' (it has: )"),
        (
            {"scorer": {"eed": "often"}},
            "scorer.eed.minimum",
            "1",
            "eed is 'often', not a mapping",
        ),
    ],
)
def test_a_key_that_leads_nowhere_is_refused_with_its_option(
    data: Data, key: str, value: str, says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        applied(data, key, value)
    assert str(refused.value).startswith(f"--llmeval-set demo.{key}={value}: {says}")


@pytest.mark.parametrize("value", ["{", "[a", "a: b: c", "!!python/object:os.system x", ".inf"])
def test_a_value_that_is_no_yaml_is_refused_with_its_option(value: str) -> None:
    with pytest.raises(UsageError) as refused:
        Override("demo", "generate.x", value, FOLDER)
    assert str(refused.value).startswith(f"--llmeval-set demo.generate.x={value}: ")


@pytest.mark.parametrize("value", ["path.csv", "[path.csv]", "{a: {b: [path.csv]}}"])
def test_texts_know_the_folder_that_they_were_typed_in(value: str) -> None:
    found: Any = applied({}, "key", value)["key"]
    while not isinstance(found, str):
        found = found["a"]["b"] if isinstance(found, dict) else found[0]
    assert found == "path.csv"
    assert isinstance(found, PlacedText)
    assert found.folder == FOLDER


@pytest.mark.parametrize("text", ["{{ metadata.x }} {{ input }}", "{{ input }}", "[a", "a: b: c"])
def test_a_text_that_is_no_yaml_is_told_how_to_quote_it(text: str) -> None:
    with pytest.raises(UsageError, match="the value is not YAML: ") as caught:
        applied({}, "prompt", text)
    _, written = shlex.split(str(caught.value).rpartition("write it in quotes: ")[2])
    key, _, value = written.removeprefix("demo.").partition("=")
    assert applied({}, key, value) == {"prompt": text}
