"""Python functions as tools: schemas of signatures, arguments validated, failures told apart."""

from __future__ import annotations

import asyncio
import enum
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from solvers.agent.agent_context import Context, LookUp

from pytest_llmeval.engine.tool import CallError
from pytest_llmeval.errors import TaskError, ToolError
from pytest_llmeval.records import Json, ToolUse
from pytest_llmeval.scoring.schemas import Schema
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall
from pytest_llmeval.solvers.agent.description import described_tools
from pytest_llmeval.solvers.agent.function_tool import FunctionTool
from pytest_llmeval.solvers.agent.toolbox import Toolbox, schemas_of
from pytest_llmeval.solvers.limits import Limits, OwnTime


def used(tool: FunctionTool, arguments: dict[str, Json]) -> ToolUse:
    """Return the use of a tool in the hands of the agent."""
    context = Context()
    call = WrittenCall(name=tool.name, arguments=arguments)

    async def use() -> None:
        box = Toolbox((tool,), schemas_of([tool]), context, Limits(turns=10), OwnTime(None))
        await box.results([call], stage="turn 1")

    asyncio.run(use())
    (made,) = context.recorded
    return made


def tool_of(function: Callable[..., Any], **options: Any) -> FunctionTool:
    return FunctionTool.of(function, options)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def everything(  # noqa: PLR0913, PLR0917 - one of each
    text: str,
    number: float,
    kind: Literal["a", "b"],
    colour: Colour,
    words: list[str],
    place: Annotated[int, Field(ge=1, description="from 1")] = 1,
    note: Optional[str] = None,  # noqa: UP045 - as users write it
    *,
    secret: str = "",
) -> dict[str, Any]:
    """Take one of each.

    And a second line.
    """
    assert isinstance(colour, Colour)
    return {
        "given": [text, number, kind, colour.value, words, place, note],
        "secret": secret,
    }


def test_the_schema_is_that_of_the_signature_without_what_the_task_sets() -> None:
    tool = tool_of(everything)
    assert tool.name == "everything"
    assert tool.description == "Take one of each.\n\nAnd a second line."
    assert json.loads(json.dumps(tool.parameters)) == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "number"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "colour": {"$ref": "#/$defs/Colour"},
            "words": {"type": "array", "items": {"type": "string"}},
            "place": {"type": "integer", "minimum": 1, "description": "from 1", "default": 1},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "$defs": {"Colour": {"enum": ["red", "blue"], "title": "Colour", "type": "string"}},
        "required": ["text", "number", "kind", "colour", "words"],
        "additionalProperties": False,
    }


GIVEN: dict[str, Json] = {"text": "t", "number": 2, "kind": "a", "colour": "red", "words": ["w"]}


def test_a_call_gives_the_arguments_in_the_types_of_the_function() -> None:
    use = used(tool_of(everything, secret="x"), GIVEN)  # noqa: S106 - none
    assert json.loads(use.output) == {
        "given": ["t", 2.0, "a", "red", ["w"], 1, None],
        "secret": "x",
    }
    assert (use.tool, use.stage, use.error) == ("everything", "turn 1", None)
    assert json.loads(use.input) == GIVEN


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


EVERYTHING = tool_of(everything)
SCHEMA = Schema(dict(EVERYTHING.parameters))


@given(st.dictionaries(st.sampled_from([*GIVEN, "place", "note", "secret", "x"]), JSON))
def test_arguments_that_fit_the_schema_are_taken_or_refused_and_never_break_the_tool(
    arguments: dict[str, Json],
) -> None:
    """Also the task's own option, which a model does not reach."""
    given = GIVEN | arguments
    fits = not SCHEMA.problems(given)
    assert not (fits and given.keys() & {"secret", "x"})
    if fits:
        assert used(EVERYTHING, given).error is None


def test_a_text_is_shown_as_it_is_and_all_else_as_json() -> None:
    def say(what: str) -> str:
        """Say it."""
        return f"\u201c{what}\u201d"

    def nothing() -> None:
        """Do nothing."""

    assert used(tool_of(say), {"what": "hé"}).output == "“hé”"
    assert used(tool_of(nothing), {}).output == "null"


def test_an_async_function_is_awaited_and_a_plain_one_does_not_stop_the_loop() -> None:
    main = threading.get_ident()

    async def here() -> bool:
        """Tell whether this is the loop's thread."""
        await asyncio.sleep(0)
        return threading.get_ident() == main

    def elsewhere() -> bool:
        """Tell the same."""
        return threading.get_ident() == main

    assert used(tool_of(here), {}).output == "true"
    assert used(tool_of(elsewhere), {}).output == "false"


def test_a_call_error_is_the_models_mistake() -> None:
    def strict(number: int) -> int:
        """Take even numbers."""
        if number % 2:
            msg = "it must be even"
            raise CallError(msg)
        return number

    use = used(tool_of(strict), {"number": 3})
    assert (use.output, use.error) == ("", "it must be even")
    assert used(tool_of(strict), {"number": 2}).output == "2"


@pytest.mark.parametrize(
    "failure", [ValueError("odd"), KeyError("x"), SystemExit(1), RuntimeError("\x1b[0m")]
)
def test_any_other_exception_is_the_tools_failure(failure: BaseException) -> None:
    def broken() -> None:
        """Break."""
        raise failure

    async def broken_too() -> None:
        """Break."""
        raise failure

    for function in (broken, broken_too):
        with pytest.raises(ToolError, match=f"tool {function.__name__}: {type(failure).__name__}"):
            used(tool_of(function), {})


def test_a_failure_of_the_packages_own_kinds_stays_what_it_is() -> None:
    def misled() -> None:
        """Miss a file."""
        problem = "gone"
        raise TaskError(problem, file="x")

    with pytest.raises(TaskError, match="gone"):
        used(tool_of(misled), {})


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), float("nan"), b"x"], ids=["set", "object", "nan", "bytes"]
)
def test_a_result_that_is_no_json_is_the_tools_failure(value: object) -> None:
    def odd() -> object:
        """Return it."""
        return value

    with pytest.raises(ToolError, match="tool odd: "):
        used(tool_of(odd), {})


def untold(a: int) -> int:
    return a


def unhinted(a) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Take anything."""


def many(*values: int) -> None:
    """Take many."""


def named(**values: int) -> None:
    """Take names."""


def unnamed(a: int, /) -> None:
    """Take one without a name."""


def unknown(a: Absent) -> None:  # type: ignore[name-defined]  # noqa: F821 - what is tested
    """Take what is not there."""


def opaque(a: threading.Lock) -> None:
    """Take what no JSON is."""


def calls_back(a: Callable[[], int]) -> None:
    """Take a function."""


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (untold, "has no docstring"),
        (unhinted, "has the parameter 'a' without a type hint"),
        (many, "has the parameter \\*values: "),
        (named, "has the parameter \\*\\*values: "),
        (unnamed, "has the parameter a: "),
        (unknown, "has a type hint that cannot be resolved: name 'Absent'"),
        (opaque, "has a parameter of a type that JSON cannot give"),
        (calls_back, "has a parameter that JSON cannot give"),
    ],
)
def test_a_function_that_no_model_could_call_is_refused(
    function: Callable[..., Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        tool_of(function)


@dataclass
class Point:
    x: float
    y: float


def test_a_prompt_is_told_what_the_schema_says() -> None:
    def near(  # noqa: PLR0913 - as above
        point: Point,
        colour: Colour,
        kinds: list[Literal["a", "b"]],
        most: Annotated[int, Field(ge=1, description="how many")] = 3,
        note: str | None = None,
        *,
        secret: str = "",  # noqa: ARG001 - an option
    ) -> str:
        """Find what is near.

        Nearest first.
        """
        return f"{point} {colour} {kinds} {most} {note}"

    assert described_tools([tool_of(near)]) == (
        'near(point: Point, colour: Colour, kinds: list of ("a" | "b"), '
        'most: {"minimum": 1, "type": "integer"} = 3, note: text | null = null)\n'
        "  Find what is near.\n\n  Nearest first.\n  most: how many\n"
        '  Colour: "red" | "blue"\n'
        '  Point: {"additionalProperties": false, "properties": '
        '{"x": {"type": "number"}, "y": {"type": "number"}}, '
        '"required": ["x", "y"], "type": "object"}'
    )


def test_an_argument_that_may_be_left_out_is_not_said_to_be_null() -> None:
    tool = LookUp()
    tool.parameters = {**tool.parameters, "required": []}
    assert described_tools([tool]).startswith("look_up(query: text (optional))\n")


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"title": "Article", "type": "string"}, "text"),
        ({"title": "Most", "type": "integer", "default": 3}, "whole number"),
        ({"title": "Price", "type": "number"}, "number"),
        ({"title": "Rush", "type": "boolean"}, "true or false"),
        ({"title": "Articles", "type": "array", "items": {"type": "string"}}, "list of (text)"),
        ({"title": "Note", "anyOf": [{"type": "string"}, {"type": "null"}]}, "text | null"),
    ],
)
def test_a_schema_with_a_title_is_told_by_its_type(schema: dict[str, Json], told: str) -> None:
    tool = LookUp()
    tool.parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    assert described_tools([tool]).startswith(f"look_up(x: {told})\n")
