"""A callable of the user's as a model."""

from __future__ import annotations

import asyncio
import functools
import re
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from scripted_context import Asked, solved
from solvers.agent.agent_context import Context

from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.providers.guard import GuardedProvider
from pytest_llmeval.records import Message, Reply, Request, Usage
from pytest_llmeval.solvers.agent.function_tool import FunctionTool
from pytest_llmeval.solvers.agent.solver import AgentSolver

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"

REQUEST = Request(provider="python", model="./m.py:reply", messages=(Message.of("user", "hello"),))


def send(function: Any) -> Reply:
    return asyncio.run(GuardedProvider(function, name="python/./m.py:reply").send(REQUEST))


async def shout(request: Request) -> str:
    await asyncio.sleep(0)
    return request.messages[0].text.upper()


class Shouting:
    """A callable object with an async call."""

    async def __call__(self, request: Request) -> str:
        return await shout(request)


@pytest.mark.parametrize(
    "function",
    [lambda request: request.messages[0].text.upper(), shout, functools.partial(shout), Shouting()],
    ids=["plain", "async", "partial", "object"],
)
def test_any_callable_may_answer_with_text(function: Any) -> None:
    reply = send(function)
    assert reply.text == "HELLO"
    assert reply.usage.requests == 1
    assert reply.latency >= 0
    assert reply.created > 0


def test_a_reply_is_passed_on_as_it_is() -> None:
    reply = Reply(
        text="x", stop_reason="length", latency=9.0, created=5.0, usage=Usage(requests=3, cost=0.5)
    )
    assert send(lambda _: reply) == reply


def test_a_reply_gets_the_times_and_the_count_that_it_lacks() -> None:
    reply = send(lambda _: Reply(text="x", usage=Usage(input_tokens=7, cost=0.5)))
    assert reply.usage == Usage(input_tokens=7, cost=0.5, requests=1)
    assert reply.created > 0
    assert reply.latency >= 0


def test_plain_functions_run_beside_each_other_however_many() -> None:
    # With fewer threads than calls the barrier would never open.
    barrier = threading.Barrier(50, timeout=20)

    async def main() -> list[Reply]:
        provider = GuardedProvider(lambda _: str(barrier.wait()), name="m")
        return await asyncio.gather(*(provider.send(REQUEST) for _ in range(50)))

    assert len({reply.text for reply in asyncio.run(main())}) == 50


def broken(_: Request) -> str:
    msg = "out of order"
    raise RuntimeError(msg)


def leaving(_: Request) -> str:
    sys.exit(3)


async def leaving_later(_: Request) -> str:
    sys.exit(3)


def stopping(_: Request) -> str:
    raise StopIteration


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (broken, "raised RuntimeError: out of order"),
        (leaving, "raised SystemExit: 3"),
        (leaving_later, "raised SystemExit: 3"),
        (stopping, "raised"),
        (lambda: "x", "raised TypeError"),
        (lambda _: None, "returned NoneType; expected str or Reply"),
        (lambda _: 3, "returned int; expected str or Reply"),
    ],
    ids=["raises", "exits", "exits later", "StopIteration", "takes nothing", "None", "int"],
)
def test_whatever_it_does_wrong_is_the_samples_provider_error(function: Any, told: str) -> None:
    with pytest.raises(ProviderError, match=f"python/./m.py:reply {told}") as caught:
        send(function)
    assert (caught.value.reach, caught.value.cause) == ("sample", "python")


def test_an_error_of_ours_passes() -> None:
    def fail(_: Request) -> str:
        msg = "no key"
        raise UsageError(msg)

    with pytest.raises(UsageError, match="no key"):
        send(fail)


def test_a_call_can_be_cancelled_while_the_function_hangs() -> None:
    release = threading.Event()

    async def main() -> None:
        provider = GuardedProvider(lambda _: str(release.wait(20)), name="m")
        call = asyncio.create_task(provider.send(REQUEST))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    release.set()


class PagesModel(Context):
    """Replies by the function of docs/providers.md that calls a tool."""

    async def reply(self, asked: Asked) -> Reply:
        (code,) = re.findall(r"```python\n# calling.py\n(.*?)```", PAGE.read_text(), re.DOTALL)
        space: dict[str, Any] = {}
        exec(code, space)  # noqa: S102 - its point
        request = replace(REQUEST, messages=asked.messages, parameters=asked.parameters)
        return await GuardedProvider(space["reply"], name="m").send(request)


def test_the_function_of_the_page_calls_the_tool_that_the_agent_offers() -> None:
    def to_eur(amount: float) -> float:
        """Change dollars."""
        return amount * 2

    context = PagesModel(Reply(text="unused"))
    completion = solved(AgentSolver(tools=(FunctionTool.of(to_eur, {}),)), context)
    assert completion.text == "It costs 40.0 EUR."
    assert [use.tool for use in context.recorded] == ["to_eur"]
