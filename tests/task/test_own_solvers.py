"""A task's solver and answer rule, ours and its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted_context import Asked, ScriptedContext

from pytest_llmeval.engine.own_code import answer_rule_of, roles_of, solver_of
from pytest_llmeval.errors import ProviderError, RunStopped, TaskError
from pytest_llmeval.records import (
    Completion,
    Image,
    Json,
    Message,
    Reply,
    Sample,
    ToolUse,
)
from pytest_llmeval.solvers.direct import DirectSolver
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.callables import load_callable

SAMPLE = Sample(id="7", input="What is 1 + 1?", target="2")


class FunctionContext(ScriptedContext):
    """A context whose model is a function of the messages, with a log of all that is done."""

    epoch = 2

    def __init__(self, model: Callable[[Sequence[Message]], Reply]) -> None:
        """Answer as `model` does."""
        super().__init__(settings={"place": "here", "nothing": None})
        self.model, self.notes = model, list[str]()
        self.started, self.hang = threading.Event(), False
        self.cancelled = False

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        return (Message.of("user", f"{stage} {variables}"),)

    async def reply(self, asked: Asked) -> Reply:
        self.started.set()
        if self.hang:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
        reply = self.model(asked.messages)
        return Reply(text=f"{reply.text} (draw {asked.draw})", stop_reason=reply.stop_reason)

    async def shared(self, key: str, start: Callable[[], Awaitable[Any]]) -> Any:
        self.notes.append(f"opens {key}")
        return await super().shared(key, start)

    def tell(self, text: str) -> None:
        self.notes.append(f"tells {text}")

    def record(self, use: ToolUse) -> None:
        self.notes.append(f"used {use.tool}: {use.output}")

    def save_image(self, data: bytes) -> Image:
        return Image(digest=str(len(data)), media_type="image/png", path="/x.png")

    def note(self, stage: str, text: str) -> None:
        self.notes.append(f"{stage}: {text}")


def echo(messages: Sequence[Message]) -> Reply:
    return Reply(text=f"echo {messages[0].text}", stop_reason="length")


def task_with(folder: Path, solver: str, code: str = "", answer: str = "whole") -> Task:
    (folder / "solver.py").write_text(code)
    prompt = "{generate: a, refine: b}"
    text = (
        f"name: demo\ndataset: {{path: rows.csv}}\nprompt: {prompt}\n"
        f"solver: {solver}\nanswer: {answer}\n"
    )
    (folder / "task.yaml").write_text(text)
    return load_task(folder / "task.yaml")


async def solved(folder: Path, code: str, context: FunctionContext | None = None) -> Completion:
    task = task_with(folder, "./solver.py:solve", code)
    return await solver_of(task)(SAMPLE, context or FunctionContext(echo))


def test_direct_sends_one_prompt_and_keeps_how_the_reply_ended() -> None:
    completion = asyncio.run(_direct())
    assert completion == Completion(text="echo generate {} (draw 0)", stop_reason="length")


async def _direct() -> Completion:
    return await DirectSolver()(SAMPLE, FunctionContext(echo))


def test_direct_is_what_a_task_gets_by_its_name(tmp_path: Path) -> None:
    solver = solver_of(task_with(tmp_path, "direct"))

    async def run() -> Completion:
        return await solver(SAMPLE, FunctionContext(echo))

    assert asyncio.run(run()).text == "echo generate {} (draw 0)"


ASYNC = """
async def solve(sample, context):
    reply = await context.generate(context.prompt("first", hint=sample.input), draw=3)
    return reply.text
"""

PLAIN = """
import threading
from pytest_llmeval import ToolUse

async def count_rows():
    return "1 row"

async def asked(context, text):
    return (await context.generate(context.prompt(text))).text

def solve(sample, context):
    assert threading.current_thread() is not threading.main_thread()
    rows = context.shared("rows", count_rows)
    context.record(ToolUse(stage="s", tool="counter", input="all", output=rows))
    context.tell(f"{context.setting('place')} {context.setting('nothing')}")
    digest = context.save_image(b"abc").digest
    context.note("solve", f"epoch {context.epoch}, {len(context.images)} images, {digest}")
    assert context.wait(lambda c: asked(c, "second")) == "echo second {} (draw 0)"
    return context.generate(context.prompt("first", hint=rows), draw=3).text
"""


def test_an_async_function_is_a_solver_and_may_return_text(tmp_path: Path) -> None:
    completion = asyncio.run(solved(tmp_path, ASYNC))
    assert completion == Completion(text="echo first {'hint': 'What is 1 + 1?'} (draw 3)")


def test_a_plain_function_is_a_solver_whose_context_blocks(tmp_path: Path) -> None:
    context = FunctionContext(echo)
    assert (
        asyncio.run(solved(tmp_path, PLAIN, context)).text
        == "echo first {'hint': '1 row'} (draw 3)"
    )
    assert context.notes == [
        "opens rows",
        "used counter: 1 row",
        "tells here None",
        "solve: epoch 2, 0 images, 3",
    ]


def test_a_completion_is_passed_on_as_it_is(tmp_path: Path) -> None:
    code = (
        "from pytest_llmeval.records import Completion\n"
        "def solve(s, c): return Completion(text='t', answer='a')\n"
    )
    assert asyncio.run(solved(tmp_path, code)) == Completion(text="t", answer="a")


def test_more_plain_solvers_wait_at_once_than_a_thread_pool_holds(tmp_path: Path) -> None:
    code = "def solve(sample, context): return context.generate(context.prompt()).text\n"
    solver = solver_of(task_with(tmp_path, "./solver.py:solve", code))
    together = 80  # the default pool of a machine with 48 cores would hold 52, and all others fewer

    class Meeting(FunctionContext):
        async def reply(self, asked: Asked) -> Reply:
            await barrier.wait()
            return Reply(text=asked.messages[0].text)

    barrier: asyncio.Barrier

    async def run() -> list[Completion]:
        nonlocal barrier
        barrier = asyncio.Barrier(together)
        return await asyncio.gather(*(solver(SAMPLE, Meeting(echo)) for _ in range(together)))

    assert len(asyncio.run(run())) == together


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "async def solve(s, c): return 1 / 0\n",
            "solve failed on sample '7': ZeroDivisionError: division by zero",
        ),
        (
            "def solve(s, c): return 1 / 0\n",
            "solve failed on sample '7': ZeroDivisionError: division by zero",
        ),
        ("def solve(s, c): raise SystemExit(3)\n", "solve failed on sample '7': SystemExit: 3"),
        (
            "def solve(s, c): raise StopIteration\n",
            "solve failed on sample '7': RuntimeError: coroutine raised Stop",
        ),
        ("def solve(s, c): return None\n", "solve returned a NoneType, not a Completion or text"),
        ("async def solve(s, c): return 5\n", "solve returned a int, not a Completion or text"),
        ("def solve(s): return ''\n", "solve must take (sample, context)"),
        ("def other(s, c): return ''\n", "has no 'solve'"),
    ],
)
def test_a_faulty_solver_is_the_tasks_error(code: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError) as refused:
        asyncio.run(solved(tmp_path, code))
    assert says in str(refused.value)


@pytest.mark.parametrize("kind", ["async def", "def"])
def test_a_providers_failure_passes_through_a_solver_unchanged(kind: str, tmp_path: Path) -> None:
    def fails(_messages: Sequence[Message]) -> Reply:
        msg = "server is down"
        raise ProviderError(msg, reach="model")

    wait = "await " if kind == "async def" else ""
    code = f"{kind} solve(s, c): return {wait}c.generate(c.prompt())\n"
    with pytest.raises(ProviderError, match="server is down") as failed:
        asyncio.run(solved(tmp_path, code, FunctionContext(fails)))
    assert failed.value.reach == "model"


STUBBORN = """
import threading
ended = threading.Event()
endings = []
def solve(sample, context):
    try:
        for _ in range(2):
            try:
                context.generate(context.prompt())
            except BaseException as error:
                endings.append(type(error).__name__)
    finally:
        ended.set()
"""


def test_a_cancelled_plain_solver_is_let_go_and_may_ask_nothing_more(tmp_path: Path) -> None:
    context = FunctionContext(echo)
    context.hang = True
    solver = solver_of(task_with(tmp_path, "./solver.py:solve", STUBBORN))

    async def run() -> None:
        running = asyncio.create_task(_await(solver(SAMPLE, context)))
        await asyncio.to_thread(context.started.wait, 10)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await asyncio.to_thread(ended.wait, 10)

    module = load_callable("./solver.py:solve", tmp_path).__globals__
    ended = module["ended"]
    asyncio.run(run())
    assert context.cancelled
    assert module["endings"] == [RunStopped.__name__] * 2


async def _await(completion: object) -> None:
    await completion  # type: ignore[misc]  # a solver's coroutine


OPTIONS = """
from dataclasses import dataclass
from pathlib import Path
from typing import Any

def plain(sample, context, *, times: int = 1, file: Path | None = None):
    return f"{sample.id} {times} {None if file is None else file.name}"

async def waiting(sample, context, *, times: int = 1):
    return f"{sample.id} {times}"

@dataclass
class Solver:
    times: int = 1

    async def __call__(self, sample, context):
        return f"{sample.id} {self.times}"

def made(*, times: int = 1):
    async def solve(sample, context):
        return f"{sample.id} {times}"
    return solve
"""


@pytest.mark.parametrize(
    ("solver", "text"),
    [
        ("./solver.py:plain", "7 1 None"),
        ("{'./solver.py:plain': {times: 3, file: rows.csv}}", "7 3 rows.csv"),
        ("./solver.py:waiting", "7 1"),
        ("{'./solver.py:waiting': {times: 3}}", "7 3"),
        ("./solver.py:Solver", "7 1"),
        ("{'./solver.py:Solver': {times: 3}}", "7 3"),
        ("./solver.py:made", "7 1"),
        ("{'./solver.py:made': {times: 3}}", "7 3"),
    ],
)
def test_a_solver_is_a_function_a_class_or_what_a_function_makes_with_its_options(
    solver: str, text: str, tmp_path: Path
) -> None:
    solve = solver_of(task_with(tmp_path, solver, OPTIONS))

    async def run() -> Completion:
        return await solve(SAMPLE, FunctionContext(echo))

    assert asyncio.run(run()).text == text


@pytest.mark.parametrize(
    ("solver", "key", "says"),
    [
        ("{direct: {repair: 1}}", "solver.direct.repair", "is not an option here (it has none)"),
        (
            "{'./solver.py:plain': {tiems: 1}}",
            "solver../solver.py:plain.tiems",
            "is not an option here (allowed: times, file)",
        ),
        (
            "{'./solver.py:waiting': {times: many}}",
            "solver../solver.py:waiting.times",
            "is 'many': input should be a valid integer",
        ),
        (
            "{'./solver.py:Solver': {time: 1}}",
            "solver../solver.py:Solver.time",
            "is not an option here (allowed: times)",
        ),
    ],
)
def test_a_wrong_option_of_a_solver_is_told_with_line_and_key(
    solver: str, key: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(TaskError) as refused:
        solver_of(task_with(tmp_path, solver, OPTIONS))
    assert str(refused.value).startswith(f"{tmp_path / 'task.yaml'}:4: {key}: ")
    assert says in str(refused.value)


def test_a_rule_for_the_answer_is_ours_or_the_tasks_own(tmp_path: Path) -> None:
    assert (
        answer_rule_of(task_with(tmp_path, "direct", answer="boxed_last"))(r"\boxed{1} \boxed{2}")
        == "2"
    )
    code = "def letter(text): return text[-1] if text else None\n"
    own = answer_rule_of(task_with(tmp_path, "direct", code, "./solver.py:letter"))
    assert (own("abc"), own("")) == ("c", None)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def rule(text): return text[5]\n", "./solver.py:rule failed: IndexError"),
        ("def rule(text): return 5\n", "./solver.py:rule returned a int, not text or None"),
        ("def rule(): return ''\n", "rule must take (text)"),
    ],
)
def test_a_faulty_rule_is_the_tasks_error(code: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError) as refused:
        answer_rule_of(task_with(tmp_path, "direct", code, "./solver.py:rule"))("abc")
    assert says in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path / 'task.yaml'}:5: answer: ")


ASKING = """
import dataclasses

def solve(sample, context, *, polite: bool = False):
    return context.generate(context.prompt(), role="user").text

solve.roles = ("user", "critic", "user")

async def quick(sample, context, *, polite: bool = False):
    return (await context.generate(context.prompt(), role="user")).text

quick.roles = ["user"]

@dataclasses.dataclass
class Debate:
    roles = ("second",)
    async def __call__(self, sample, context):
        return (await context.generate(context.prompt(), role="second")).text
"""


@pytest.mark.parametrize(
    ("solver", "roles"),
    [
        ("./solver.py:solve", ("user", "critic")),
        ("{./solver.py:solve: {polite: true}}", ("user", "critic")),
        ("{./solver.py:quick: {polite: true}}", ("user",)),
        ("./solver.py:Debate", ("second",)),
        ("direct", ()),
    ],
)
def test_a_solver_declares_the_roles_that_it_asks(
    tmp_path: Path, solver: str, roles: tuple[str, ...]
) -> None:
    task, context = task_with(tmp_path, solver, ASKING), FunctionContext(echo)
    assert roles_of(task) == roles

    async def run() -> Completion:
        return await solver_of(task)(SAMPLE, context)

    asyncio.run(run())
    assert [one.role for one in context.asked] == [*roles[:1], "solver"][:1]


@pytest.mark.parametrize("declared", ['"user"', '("User",)', '("solver",)', "(1,)", "{'user': 1}"])
def test_what_are_no_roles_is_told_with_the_solver(tmp_path: Path, declared: str) -> None:
    code = f"def solve(sample, context): ...\nsolve.roles = {declared}\n"
    task = task_with(tmp_path, "./solver.py:solve", code)
    with pytest.raises(TaskError, match=r"solve declares the roles .*a tuple of names") as wrong:
        roles_of(task)
    assert (wrong.value.key, wrong.value.line) == ("solver", 4)
