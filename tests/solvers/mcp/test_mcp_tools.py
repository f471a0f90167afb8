"""Tools of a real MCP server, in a child process, in the hands of the agent."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from solvers.agent.agent_context import made
from solvers.mcp.agents import ANSWER, HERE, answered, calling_tool

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import ToolUse
from pytest_llmeval.task.options import OptionError

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

COUNTER: dict[str, Any] = {"command": "python", "args": ["counter_server.py"]}
RAW: dict[str, Any] = {
    "command": "python",
    "args": [str(HERE / "raw_server.py"), "never", "at all"],
}


@pytest.fixture(scope="module")
def uses() -> dict[str, ToolUse]:
    """Return what each tool of one server answered, by its name."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_API_KEY", "sk-0123456789abcdefghijklmnop")
        environment.setenv("MY_TOKEN", "passed on")
        environment.setenv("OTHER_VARIABLE", "not passed on")
        server = {**COUNTER, "env": {"MODE": "test"}, "pass_env": ["MY_TOKEN"]}
        _, found = answered(
            {"counter": server},
            calling_tool("add", number=2, times=3),
            calling_tool("add", number="two"),
            calling_tool("environment"),
            calling_tool("fail", text="no such city"),
            calling_tool("picture"),
            calling_tool("reveal"),
        )
    return {use.tool: use for use in found}


def test_a_result_is_shown_as_text_and_recorded_with_its_server(uses: dict[str, ToolUse]) -> None:
    use = uses["add"]
    assert (use.output, use.error, use.engine) == ("6", None, "counter")
    assert ast.literal_eval(use.input) == {"number": 2, "times": 3}
    assert use.stage == "turn 1"


def test_what_does_not_fit_the_listed_schema_is_never_sent(uses: dict[str, ToolUse]) -> None:
    assert set(uses) == {"add", "environment", "fail", "picture"}


def test_an_error_of_a_tool_goes_back_to_the_model(uses: dict[str, ToolUse]) -> None:
    assert uses["fail"].output == ""
    assert "no such city" in str(uses["fail"].error)


def test_a_picture_is_named_and_not_shown(uses: dict[str, ToolUse]) -> None:
    assert uses["picture"].output.startswith("[image of the type image/png, ")


def test_a_server_gets_no_variable_but_the_few_of_every_server_and_those_that_are_named(
    uses: dict[str, ToolUse],
) -> None:
    got = uses["environment"].output
    assert '"MODE": "test"' in got
    assert '"MY_TOKEN": "passed on"' in got
    assert "API_KEY" not in got
    assert "OTHER_VARIABLE" not in got
    assert "PYTHONPATH" not in got


def test_state_does_not_leak_between_samples_unless_the_process_is_shared(tmp_path: Path) -> None:
    for shared, last in ((False, "1 {}"), (True, "2 {}")):
        once = calling_tool("look_up")
        _, found = answered(
            {"raw": {**RAW, "shared": shared}}, once, ANSWER, once, folder=tmp_path, samples=2
        )
        assert [use.output for use in found] == ["1 {}", last]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(JSON, min_size=8, max_size=8))
def test_arguments_arrive_as_the_model_wrote_them(tmp_path: Path, values: list[Any]) -> None:
    calls = [calling_tool("look_up", value=value) for value in values]
    _, found = answered({"raw": RAW}, *calls, folder=tmp_path)
    arrived = [json.loads(use.output.partition(" ")[2])["value"] for use in found]
    assert arrived == values


def test_several_servers_stand_side_by_side(tmp_path: Path) -> None:
    two = {"one": {**RAW, "tools": ["look.up"]}, "two": {**RAW, "tools": ["other"]}}
    calls = [calling_tool(name) for name in ("look_up", "other", "other")]
    _, found = answered(two, *calls, folder=tmp_path)
    assert [(use.tool, use.engine, use.output) for use in found] == [
        ("look_up", "one", "1 {}"),
        ("other", "two", "1 {}"),
        ("other", "two", "2 {}"),
    ]


def test_a_variable_that_is_not_set_is_told_before_anything_is_asked() -> None:
    with pytest.raises(UsageError, match=r"'counter' .* the variable NOT_SET, which is not set"):
        answered({"counter": {**COUNTER, "pass_env": ["NOT_SET"]}})


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("server.py", "write {command: python, args: "),
        ({}, "is missing"),
        ({"command": "no-such-program"}, "'no-such-program', which is not found on PATH"),
        ({"command": "./server"}, "'./server', which is not found"),
        ({**COUNTER, "timeout": 0.0}, "timeout is 0.0; it is a number of seconds above 0"),
        ({**COUNTER, "env": {"A": 1}}, "valid string"),
        ({**COUNTER, "url": "http://x"}, "is not an option here"),
    ],
)
def test_a_mistake_in_the_task_is_told_when_it_loads(options: Any, problem: str) -> None:
    with pytest.raises(OptionError, match=problem.replace("{", r"\{")) as raised:
        made({"mcp": {"counter": options}})
    assert raised.value.place[:2] == ("mcp", "counter")


def test_an_agent_without_any_tool_is_refused() -> None:
    with pytest.raises(OptionError, match="an agent needs tools"):
        made({"mcp": {}})


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_llmeval.solvers.mcp.server.find_spec", lambda _: None)
    with pytest.raises(OptionError, match=r"pip install 'pytest-llmeval-suite\[mcp\]'"):
        made({"mcp": {"counter": COUNTER}}, Path(HERE))
