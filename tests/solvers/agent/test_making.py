"""The tools of a task: found by name, made from their options, refused at collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted_context import solved
from solvers.agent.agent_context import Context, call, made, raw

from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.records import Json, Reply
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.options import OptionError
from pytest_llmeval.task.registry import TOOLS

TOOL_FILE = '''
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.records import ToolUse


def ask(question: str, *, polite: bool = False) -> str:
    """Ask."""
    return "please" if polite else "no"


def unexplained(question: str) -> str:
    return question


@dataclass(frozen=True, kw_only=True)
class Book:
    """A book of words."""

    file: Path
    name: str = "read"
    description: str = "Reads."
    parameters = {"type": "object", "properties": {}}

    def __post_init__(self):
        if not self.file.exists():
            raise ValueError(f"file is {self.file.name!r}, and there is none")

    async def __call__(self, arguments, context, *, stage):
        text = self.file.read_text()
        return ToolUse(stage=stage, tool=self.name, input="", output=text)


class Nothing:
    """No tool."""


class WrongSchema(Book):
    parameters = {"type": "object", "properties": 7}


class WrongType(Book):
    parameters = {"type": "string"}


class Waiting(Book):
    def __call__(self, arguments, context, *, stage):
        """Not async."""


def now():
    """Tell the time."""
    return "12:00"


book = Book(file=Path(__file__))
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with tools and a task."""
    (tmp_path / "tools.py").write_text(TOOL_FILE)
    (tmp_path / "words.txt").write_text("a b")
    (tmp_path / "rows.yaml").write_text("- {id: 1, input: How?, target: so}\n")
    return tmp_path


def task(folder: Path, tools: str, overrides: dict[str, str] | None = None) -> Task:
    file = folder / "task.yaml"
    file.write_text(
        "name: asking\n"
        "dataset: {path: rows.yaml}\n"
        "prompt: '{{ input }} {{ tools }}'\n"
        f"solver: {{agent: {{tools: {tools}, turns: 3}}}}\n"
    )
    return load_task(file, overrides, folder / "elsewhere")


def names(made_task: Task) -> list[str]:
    return [tool.name for tool in made_task.named_solver.tools]


def test_tools_are_functions_classes_and_objects(folder: Path) -> None:
    book = '"./tools.py:Book": {file: words.txt, name: words}'
    tools = f'{{"./tools.py:ask": , {book}, "./tools.py:book": , "./tools.py:now": }}'
    assert names(task(folder, tools)) == ["ask", "words", "read", "now"]


def test_an_option_of_a_function_is_the_tasks_and_not_the_models(folder: Path) -> None:
    agent = made({"tools": {"./tools.py:ask": {"polite": True}}}, folder)
    (tool,) = agent.tools
    assert list(tool.parameters["properties"]) == ["question"]  # type: ignore[arg-type]  # JSON
    context = Context(raw(call('{"question": "?"}', "ask")), Reply(text="so"))
    solved(agent, context)
    assert context.results == ["please"]


def test_paths_start_from_the_task_and_those_of_the_command_line_where_it_was_typed(
    folder: Path,
) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "other.txt").write_text("c")
    tools = '{"./tools.py:Book": {file: words.txt}}'
    (tool,) = task(folder, tools).named_solver.tools
    assert tool.file == folder / "words.txt"
    options = {"solver.agent.tools": '{"./tools.py:Book": {file: other.txt}}'}
    (tool,) = task(folder, tools, options).named_solver.tools
    assert tool.file == folder / "elsewhere" / "other.txt"


def test_an_override_reaches_one_option_of_one_tool(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {**TOOLS.own, "book": f"{folder / 'tools.py'}:Book"}
    monkeypatch.setitem(vars(TOOLS), "own", named)
    made_task = task(folder, "{book: {file: words.txt}}", {"solver.agent.tools.book.name": "b"})
    assert names(made_task) == ["b"]
    with pytest.raises(UsageError, match=r"--llmeval-set asking\.solver\.agent\.tools\.book\.file"):
        task(folder, "{book: {file: words.txt}}", {"solver.agent.tools.book.file": "absent.txt"})


WRONG: list[tuple[str, str]] = [
    ("{}", "solver.agent.tools: is {}; write the tools with their options"),
    ("[ask]", "solver.agent.tools: is ['ask']; write the tools"),
    ("{cyphr: }", "solver.agent.tools: is 'cyphr'; did you mean 'cypher'?"),
    ('{"./tools.py:ask": 7}', "tools.py:ask: has the options 7, not a mapping"),
    ('{"./tools.py:ask": {polit: true}}', "ask.polit: is not an option here (allowed: polite)"),
    ('{"./tools.py:ask": {polite: 1}}', "ask.polite: is 1: input should be a valid boolean"),
    ('{"./tools.py:ask": {question: x}}', "ask.question: is not an option here"),
    ('{"./tools.py:asks": }', "has no 'asks'"),
    ('{"./absent.py:ask": }', "there is no such file"),
    ('{"./tools.py:unexplained": }', "has no docstring"),
    ('{"./tools.py:Book": {}}', "Book.file: is missing"),
    ('{"./tools.py:Book": {file: absent.txt}}', "file is 'absent.txt', and there is none"),
    ('{"./tools.py:Book": {file: words.txt, name: "a b"}}', "is called 'a b'; a tool's name has"),
    ('{"./tools.py:book": {file: words.txt}}', "is made already, and takes no options"),
    ('{"./tools.py:Nothing": }', "is not a tool: it has no name, description, parameters"),
    ('{"./tools.py:WrongSchema": {file: words.txt}}', "the schema is none"),
    ('{"./tools.py:WrongType": {file: words.txt}}', "whose schema is not of the type object"),
    ('{"./tools.py:Waiting": {file: words.txt}}', "whose method __call__ is not async"),
    (
        '{"./tools.py:Book": {file: words.txt}, "./tools.py:book": }',
        "is a second tool that the model calls 'read'",
    ),
]


@pytest.mark.parametrize(("tools", "problem"), WRONG, ids=[problem for _, problem in WRONG])
def test_a_wrong_tool_is_one_error_with_line_and_key(
    folder: Path, tools: str, problem: str
) -> None:
    with pytest.raises(TaskError) as refused:
        task(folder, tools)
    assert problem in str(refused.value)
    assert refused.value.line == 4
    assert str(refused.value.key).startswith("solver.agent.tools")


def test_a_wrong_value_of_the_agent_is_an_error_too(folder: Path) -> None:
    options: list[dict[str, Any]] = [{"calls": "morse"}, {"turns": "3"}, {"turn": 3}]
    for wrong in options:
        with pytest.raises(OptionError) as refused:
            made({"tools": {"./tools.py:ask": {}}, **wrong}, folder)
        assert refused.value.place == tuple(wrong)


def test_no_value_for_the_tools_raises_anything_else(folder: Path) -> None:
    values: list[Json] = [
        None,
        1,
        "x",
        [],
        [1],
        {"": {}},
        {"a:b": {}},
        {"./tools.py:": {}},
        {"x": 1},
    ]
    for value in values:
        with pytest.raises(LLMEvalError):
            made({"tools": value}, folder)
