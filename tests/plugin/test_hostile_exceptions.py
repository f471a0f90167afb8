"""Whatever a provider, a solver or a scorer raises is an error of its own sample, and the run ends.

The code of others is run in each place where the engine calls it, serially and under xdist.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.safety.printable import printable

if TYPE_CHECKING:
    from plugin.conftest import Project

HOSTILE = r"""
import asyncio, sys
from pytest_llmeval import Completion, Reply, Usage
from pytest_llmeval.errors import ProviderError, TaskError

class Attributes(ProviderError):
    def __init__(self, **attributes):
        super().__init__("told")
        vars(self).update(attributes)

class Silent(Exception):
    def __str__(self): raise SystemExit("no words")

class Odd(Exception):
    def __str__(self): return 7
    def __repr__(self): raise KeyboardInterrupt
    def __reduce__(self): raise MemoryError
    @property
    def __dict__(self): raise OSError

class Text(str):
    def __len__(self): raise ValueError
    def __getitem__(self, _): raise ValueError

class Subclass(Exception):
    def __str__(self): return Text("of str")

class Meta(type):
    @property
    def __name__(cls): raise ValueError
    def __eq__(cls, other): raise ValueError
    __hash__ = type.__hash__

class Nameless(Exception, metaclass=Meta): pass

def cycle():
    it = []
    it.append(it)
    return it

def deep(levels):
    it = None
    for _ in range(levels):
        it = [it]
    return it

def rise(error):
    raise error

def chained():
    try:
        rise(Silent())
    except Silent as error:
        raise Odd() from error

CASES = {
    "no json": lambda: rise(Attributes(connection=object())),
    "class": lambda: rise(Attributes(kind=Attributes, reach=Attributes)),
    "nan": lambda: rise(Attributes(retry_after=float("nan"))),
    "infinity": lambda: rise(Attributes(retry_after=float("inf"))),
    "huge integer": lambda: rise(Attributes(status=10**5000)),
    "cycle": lambda: rise(Attributes(body=cycle())),
    "deep": lambda: rise(Attributes(body=deep(100_000))),
    "half a pair": lambda: rise(Attributes(body="\ud800")),
    "half a pair told": lambda: rise(ValueError("\ud800 told")),
    "bytes": lambda: rise(ValueError(b"\xff", {1: 2}, object())),
    "silent": lambda: rise(Silent()),
    "odd": lambda: rise(Odd()),
    "chained": chained,
    "subclass of str": lambda: rise(Subclass()),
    "nameless": lambda: rise(Nameless("told")),
    "group": lambda: rise(ExceptionGroup("many", [ValueError("one"), Silent()])),
    "base group": lambda: rise(BaseExceptionGroup("all", [KeyboardInterrupt("inside")])),
    "exit": lambda: rise(SystemExit(3)),
    "sys.exit": lambda: sys.exit("told"),
    "interrupt": lambda: rise(KeyboardInterrupt("told")),
    "generator": lambda: rise(GeneratorExit("told")),
    "stop iteration": lambda: rise(StopIteration("told")),
    "recursion": lambda: deep(1) and (lambda f: f(f))(lambda f: f(f)),
    "escapes": lambda: rise(RuntimeError("\x1b[2J\x1b]0;title\x07told\x00\x9b31m\u202e")),
    "megabytes": lambda: rise(RuntimeError("told" * 500_000)),
    "usage": lambda: rise(TaskError("told", file="f\x1b[31m", line=10**30)),
    "zero": lambda: 1 // 0,
}

REPLIES = {
    "no text": lambda: Reply(text=None),
    "nan latency": lambda: Reply(text="1", latency=float("nan")),
    "nan cost": lambda: Reply(text="1", usage=Usage(cost=float("nan"))),
    "text as usage": lambda: Reply(text="1", usage="many"),
    "unknown stop": lambda: Reply(text="1", stop_reason="because"),
    "deep calls": lambda: Reply(text="1", tool_calls=deep(100_000)),
    "cyclic calls": lambda: Reply(text="1", tool_calls=(cycle(),)),
}

DETAILS = {
    "nan": lambda: Completion(text="1", details={"x": float("nan")}),
    "cycle": lambda: Completion(text="1", details={"x": cycle()}),
    "object": lambda: Completion(text="1", details={"x": object()}),
    "no text": lambda: Completion(text=None),
}
"""

MODEL = """
from hostile import *

CALLS = {**CASES, **REPLIES}

def plain(request):
    return CALLS.get(request.messages[-1].text, lambda: "1")()

async def waiting(request):
    return plain(request)
"""

SOLVER = """
import asyncio
from hostile import *

CALLS = {**CASES, **DETAILS}

def plain(sample, context):
    return CALLS.get(sample.input, lambda: "1")()

async def waiting(sample, context):
    return plain(sample, context)

async def in_a_task(sample, context):
    return await asyncio.create_task(waiting(sample, context))

async def one(sample, context):
    return "1"

async def echo(sample, context):
    return sample.input

def answer(text):
    return CASES.get(text, lambda: "1")()

async def shared(sample, context):
    return await context.shared(sample.input, lambda: waiting(sample, context))
"""

SCORER = """
from dataclasses import dataclass
from typing import ClassVar
from hostile import *
from pytest_llmeval import Score

@dataclass(frozen=True, kw_only=True)
class Hostile:
    name: ClassVar[str] = "hostile"
    grader: ClassVar[str] = "hostile/1"
    scale: ClassVar[float] = 1.0
    models: ClassVar[tuple] = ()
    only_incorrect: ClassVar[bool] = False

    def check(self, target): pass

    async def prepare(self, sample, completion, context):
        return CASES.get(sample.input, lambda: {"fine": True})()

    def score(self, answer, sample, prepared=None):
        return Score(name="hostile", value=1.0, correct=True, grader=self.grader)
"""

TASK = """
name: NAME
dataset: {path: data.jsonl, fields: {id: id, input: input, target: target}}
prompt:
  - user: "{{ input }}"
solver: SOLVER
answer: ANSWER
scorer: SCORER
"""

TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("NAME.yaml")
def test_NAME(sample, completion):
    assert_correct(sample, completion)
"""

PLACES = {
    "provider": ("direct", "whole", "exact"),
    "plain_solver": ("./solver.py:plain", "whole", "exact"),
    "async_solver": ("./solver.py:waiting", "whole", "exact"),
    "task_of_a_solver": ("./solver.py:in_a_task", "whole", "exact"),
    "shared_object": ("./solver.py:shared", "whole", "exact"),
    "answer_rule": ("./solver.py:echo", "./solver.py:answer", "exact"),
    "preparing_scorer": ("./solver.py:one", "whole", "./scorer.py:Hostile"),
}

BAD = {
    "provider": ("CASES", "REPLIES"),
    "plain_solver": ("CASES", "DETAILS"),
    "async_solver": ("CASES", "DETAILS"),
    "task_of_a_solver": ("CASES", "DETAILS"),
    "shared_object": ("CASES", "DETAILS"),
    "answer_rule": ("CASES",),
    "preparing_scorer": ("CASES",),
}

NOT_REPORTED = {"text as usage", "nan cost", "nan latency"}
"""Replies whose figures count as not reported; they are good otherwise."""


@pytest.fixture
def names(project: Project) -> dict[str, list[str]]:
    """Make a project whose samples name what the code is to do, with good ones between.

    Returns the names of the cases, by the name of the table in HOSTILE.
    """
    code: dict[str, dict[str, object]] = {}
    exec(HOSTILE, code)  # noqa: S102 - the same code that the project imports
    names = {table: list(code[table]) for table in ("CASES", "REPLIES", "DETAILS")}
    inputs = [text for one in names.values() for name in one for text in (f"good, {name}", name)]
    lines = (
        {"id": number, "input": text, "target": "1"}
        for number, text in enumerate(dict.fromkeys(inputs))
    )
    project.write_lines("data.jsonl", lines)
    for file, text in (("hostile", HOSTILE), ("model", MODEL), ("solver", SOLVER)):
        project.write(f"{file}.py", text)
    project.write("scorer.py", SCORER)
    (project.path / "test_sums.py").unlink()
    (project.path / "task.yaml").unlink()
    for place, (solver, answer, scorer) in PLACES.items():
        text = TASK.replace("NAME", place).replace("SOLVER", solver).replace("SCORER", scorer)
        project.write(f"{place}.yaml", text.replace("ANSWER", answer))
        project.write(f"test_{place}.py", TEST.replace("NAME", place))
    return names


@pytest.mark.parametrize(("mode", "function"), [("-n2", "waiting"), ("-n0", "plain")])
def test_every_exception_is_an_error_of_its_own_sample(
    project: Project,
    names: dict[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    function: str,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(project.path), prepend=":")
    data = project.path / "data.jsonl"
    result = project.run("--llmeval-model", f"python/./model.py:{function}", mode)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    inputs = [json.loads(line)["input"] for line in data.read_text("utf-8").splitlines()]
    bad = {
        place: {name for one in tables for name in names[one]} - NOT_REPORTED
        for place, tables in BAD.items()
    }
    found = {(row["task"], inputs[int(row["sample"])]): row for row in project.rows()}
    assert {key: row["outcome"] for key, row in found.items()} == {
        (place, text): "error" if text in bad[place] else "correct"
        for place in PLACES
        for text in inputs
    }
    for key, row in found.items():
        text = row["explanation"]
        assert len(text) <= 2_000, key
        assert printable(text) == text, key
        assert bool(text) == (row["outcome"] == "error"), key
        assert "the engine ended" not in text, key
