"""What a name refers to: a built-in, a domain's, an installed distribution's, or a function."""

from __future__ import annotations

import importlib
import os.path
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from servers.installing import install

from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.task import load_task, registry
from pytest_llmeval.task.registry import (
    ANSWERS,
    METRICS,
    PROVIDERS,
    SCORERS,
    SOLVERS,
    Registry,
)

ALL = (SCORERS, SOLVERS, PROVIDERS, METRICS, ANSWERS)
KINDS = pytest.mark.parametrize("names", ALL, ids=[one.kind for one in ALL])

Install = Callable[..., None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a distribution for one test."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def put(
        names: Registry, entry_point: str, module: str = "def found(): ...\n", name: str = "extra"
    ) -> None:
        install(site, name, "0.3", module, {names.group.partition(".")[2]: entry_point})
        importlib.invalidate_caches()
        registry._installed.cache_clear()

    yield put
    registry._installed.cache_clear()
    for name in ("llmeval_extra", "llmeval_one", "llmeval_two"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("names", "name"), [(names, name) for names in ALL for name in names.own], ids=str
)
def test_every_name_of_the_package_is_a_callable(
    names: Registry, name: str, tmp_path: Path
) -> None:
    assert names.knows(name)
    assert callable(names.load(name, tmp_path))
    assert names.origin(name) == ""


@pytest.mark.parametrize(
    ("names", "own"),
    [
        (
            SCORERS,
            {"exact", "includes", "regex", "number", "choice", "json_schema", "checks"}
            | {"sldp", "pddl", "eed", "judge", "code", "taxonomy", "trajectory"},
        ),
        (SOLVERS, {"direct", "turns", "cypher", "agent", "python", "in_context", "visual_cot"}),
        (
            PROVIDERS,
            {"openai", "anthropic", "azure", "google", "bedrock", "vllm", "replay", "python"},
        ),
        (METRICS, {"accuracy", "mean", "pass_at", "maj_at", "f1_macro", "mcc", "micro"}),
        (ANSWERS, {"boxed_first", "boxed_last", "tagged", "last_line", "choice", "code", "whole"}),
    ],
    ids=[one.kind for one in ALL],
)
def test_the_package_brings_these_names(names: Registry, own: set[str]) -> None:
    assert set(names.own) == own


def test_names_of_domains_stand_behind_the_built_in_ones() -> None:
    assert list(SOLVERS.built_in) == ["direct", "agent", "turns"]
    assert list(SOLVERS.own) == [*SOLVERS.built_in, *list(SOLVERS.own)[3:]]
    assert "taxonomy" not in SCORERS.built_in


@KINDS
def test_an_installed_distribution_adds_a_name(
    names: Registry, installed: Install, tmp_path: Path
) -> None:
    installed(names, "extra = llmeval_extra:found")
    assert names.names[-1] == "extra"
    assert names.knows("extra")
    assert "llmeval_extra" not in sys.modules
    assert names.load("extra", tmp_path).__module__ == "llmeval_extra"
    assert names.origin("extra") == "llmeval-extra 0.3"


@KINDS
def test_a_name_of_one_kind_is_none_of_another(names: Registry, installed: Install) -> None:
    installed(names, "extra = llmeval_extra:found")
    assert [other for other in ALL if other.knows("extra")] == [names]


@KINDS
def test_a_distribution_cannot_take_a_name_of_the_package(
    names: Registry, installed: Install, tmp_path: Path
) -> None:
    own = next(iter(names.own))
    installed(names, f"{own} = llmeval_extra:found")
    assert names.names.count(own) == 1
    assert names.load(own, tmp_path).__module__ != "llmeval_extra"
    assert names.origin(own) == ""


@KINDS
def test_a_name_that_two_distributions_claim_is_refused_with_both(
    names: Registry, installed: Install, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        installed(names, f"same = llmeval_{name}:found", name=name)
    assert names.knows("same")
    told = (
        rf"{names.kind} 'same' is defined by llmeval-(one|two) 0\.3 and llmeval-(one|two) 0\.3; "
        "uninstall one of them"
    )
    with pytest.raises(UsageError, match=told):
        names.load("same", tmp_path)


@KINDS
@pytest.mark.parametrize(
    ("module", "told"),
    [
        (
            "import no_such_module\n",
            r"ModuleNotFoundError: No module named 'no_such_module'\); repair or uninstall it",
        ),
        ("1 / 0\n", r"ZeroDivisionError: division by zero\)"),
        ("raise SystemExit(3)\n", r"SystemExit: 3\)"),
        ("", r"AttributeError: module 'llmeval_extra' has no attribute 'found'\)"),
        ("found = 3\n", "llmeval_extra:found is not a function"),
    ],
    ids=["imports what is absent", "raises", "exits", "lacks the function", "is not a function"],
)
def test_a_broken_distribution_is_told_with_its_name_and_version(
    names: Registry, installed: Install, tmp_path: Path, module: str, told: str
) -> None:
    installed(names, "extra = llmeval_extra:found", module)
    with pytest.raises(UsageError, match=rf"{names.kind} 'extra' of llmeval-extra 0\.3.*{told}"):
        names.load("extra", tmp_path)


@KINDS
def test_a_broken_distribution_costs_nothing_that_is_not_asked_for(
    names: Registry, installed: Install, tmp_path: Path
) -> None:
    installed(names, "extra = llmeval_extra:found", "raise SystemExit(3)\n")
    assert callable(names.load(next(iter(names.own)), tmp_path))
    assert "extra" in names.names


@KINDS
def test_a_function_is_named_by_its_file_or_its_module(names: Registry, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def mine(): return 5\n")
    assert names.knows("./mine.py:mine")
    assert names.load("./mine.py:mine", tmp_path)() == 5
    assert names.load("os.path:join", tmp_path) is os.path.join
    assert (names.origin("./mine.py:mine"), names.origin("os.path:join")) == ("", "")


@KINDS
def test_a_function_is_not_looked_for_before_it_is_loaded(names: Registry, tmp_path: Path) -> None:
    assert names.knows("./absent.py:mine")
    with pytest.raises(TaskError, match=r"there is no such file \('\./absent\.py', relative to"):
        names.load("./absent.py:mine", tmp_path)


@KINDS
def test_a_file_outside_of_the_folder_is_refused_unless_allowed(
    names: Registry, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("def mine(): return 5\n")
    (tmp_path / "task").mkdir()
    with pytest.raises(TaskError, match="leaves the task's folder"):
        names.load("../mine.py:mine", tmp_path / "task")
    assert names.load("../mine.py:mine", tmp_path / "task", confined=False)() == 5


@pytest.mark.parametrize(
    ("names", "name", "near"),
    [
        (SCORERS, "jugde", "judge"),
        (SOLVERS, "direkt", "direct"),
        (PROVIDERS, "opneai", "openai"),
        (METRICS, "acuracy", "accuracy"),
        (ANSWERS, "boxed_frist", "boxed_first"),
        (SCORERS, "EED", None),
        (SOLVERS, "", None),
        (ANSWERS, "xyz", None),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_and_all_others(
    names: Registry, name: str, near: str | None, tmp_path: Path
) -> None:
    assert not names.knows(name)
    with pytest.raises(UsageError) as refused:
        names.load(name, tmp_path)
    told = str(refused.value)
    hint = f"; did you mean {near!r}?" if near else ""
    assert told.startswith(f"{names.kind} is {name!r}{hint} (allowed: {', '.join(names.own)}")
    assert told.endswith("./file.py:function, module:function)")


def test_the_nearest_name_may_be_an_installed_one(installed: Install, tmp_path: Path) -> None:
    installed(SCORERS, "rouge = llmeval_extra:found")
    with pytest.raises(UsageError, match="did you mean 'rouge'"):
        SCORERS.load("roug", tmp_path)


TASK = "name: demo\ndataset: {path: rows.csv}\nprompt: '{{ input }}'\n"
PARTS = """
from dataclasses import dataclass

@dataclass
class Scorer:
    minimum: int = 1
    name, grader, scale = "extra", "extra/1", 1.0
    def check(self, target): ...
    def score(self, answer, sample, prepared): ...

@dataclass
class Solver:
    times: int = 1
    stages = ("generate",)
    async def __call__(self, sample, context): ...

def found(text):
    return text[:1] or None
"""


def test_a_task_names_what_is_installed_as_it_names_what_is_built_in(
    installed: Install, tmp_path: Path
) -> None:
    installed(SCORERS, "extra = llmeval_extra:Scorer", PARTS)
    installed(SOLVERS, "again = llmeval_one:Solver", PARTS, name="one")
    installed(ANSWERS, "first_sign = llmeval_two:found", PARTS, name="two")
    file = tmp_path / "task.yaml"
    file.write_text(
        TASK + "scorer: {extra: {minimum: 2}}\nsolver: {again: {times: 3}}\nanswer: first_sign\n"
    )
    task = load_task(file)
    (declared,) = task.scorers
    assert (declared.scorer.grader, vars(declared.scorer)) == ("extra/1", {"minimum": 2})
    assert task.named_solver.times == 3


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("scorer: extra", r"task\.yaml:4: scorer: scorer 'extra' of llmeval-extra 0\.3 cannot"),
        ("scorer: [exact, extra]", r"task\.yaml:4: scorer\.1: scorer 'extra' of llmeval-extra"),
    ],
)
def test_a_broken_distribution_is_told_at_the_line_that_names_it(
    line: str, told: str, installed: Install, tmp_path: Path
) -> None:
    installed(SCORERS, "extra = llmeval_extra:Scorer", "1 / 0\n")
    file = tmp_path / "task.yaml"
    file.write_text(f"{TASK}{line}\n")
    with pytest.raises(LLMEvalError, match=told):
        load_task(file)
