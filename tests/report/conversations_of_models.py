"""Generated transcripts: agents by both ways of calling tools, conversations, and judges."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from report.html_run import call

from pytest_llmeval.records import (
    Event,
    FailedCall,
    Message,
    ModelCall,
    Reply,
    StageNote,
    ToolCall,
    ToolUse,
    Transcript,
)
from pytest_llmeval.scoring.trajectory.written_call import native_call
from pytest_llmeval.solvers.agent.function_tool import FunctionTool
from pytest_llmeval.solvers.agent.native import NativeCalling
from pytest_llmeval.solvers.agent.text import TextCalling


def look(place: str) -> str:
    """Look at a place."""
    return place


TOOLS = (FunctionTool.of(look, {}),)


@dataclass(slots=True)
class Writer:
    """Writes a transcript; `texts` are its texts in the order in which they came to be, each once.

    No text is part of another one, but for what tells the model the output of a tool.
    """

    chance: Random
    events: list[Event] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def text(self, kind: str, *, known: bool = True) -> str:
        """Return a new text."""
        text = f"{kind} number {next(self._numbers)} of this sample"
        if known:
            self.texts.append(text)
        return text

    def ask(
        self, messages: Sequence[Message], reply: Reply, stage: str, role: str = "solver"
    ) -> None:
        """Record a request that got a reply."""
        made = call(messages[0], stage=stage, role=role, reply=reply)
        self.events.append(self._with(made, messages))

    def fail(self, messages: Sequence[Message], stage: str) -> None:
        """Record a request that got none."""
        asked = self._with(call(messages[0], stage=stage), messages).asked
        self.events.append(FailedCall(asked=asked, error=self.text("failure")))

    @staticmethod
    def _with(made: ModelCall, messages: Sequence[Message]) -> ModelCall:
        asked = type(made.asked).from_json(
            {**made.asked.to_json(), "messages": [one.to_json() for one in messages]}
        )
        return ModelCall(asked=asked, reply=made.reply)


def agent(writer: Writer, *, native: bool) -> None:
    """Let a model call tools in some turns, as the solver `agent` does."""
    chance = writer.chance
    calling = NativeCalling(TOOLS) if native else TextCalling(TOOLS)
    sent = opening(writer)
    for turn in range(1, chance.randint(2, 5)):
        stage = f"turn {turn}"
        if chance.random() < 0.2:
            writer.fail(sent, stage)
        places = [writer.text("place", known=False) for _ in range(chance.randint(1, 3))]
        reply = calls_in_reply(writer, places, native=native)
        writer.ask(sent, reply, stage)
        results = [used(writer, place, stage) for place in places]
        read = [native_call(one) for one in reply.tool_calls] if native else calling.read(reply)
        sent = (*sent, *calling.told(reply, read, results, number=turn, last=False))
        if chance.random() < 0.3:
            writer.events.append(StageNote(stage=stage, text=writer.text("note")))
    writer.ask(sent, Reply(text=writer.text("final reply"), latency=1.0), "last turn")


def opening(writer: Writer) -> tuple[Message, ...]:
    """Return the messages of a first request, sometimes with examples."""
    kinds = ["system", "user", "assistant", "user"] if writer.chance.random() < 0.3 else ["user"]
    return tuple(Message.of(kind, writer.text(kind)) for kind in kinds)


def calls_in_reply(writer: Writer, places: Sequence[str], *, native: bool) -> Reply:
    """Return a reply that calls the tool for each place."""
    if not native:
        written = " ".join(f'<tool>look(place="{place}")</tool>' for place in places)
        text = f"{writer.text('thought', known=False)} {written}"
        writer.texts.append(text)
        return Reply(text=text, latency=1.0)
    calls = tuple(
        ToolCall(id="same", name="look", arguments=json.dumps({"place": place})) for place in places
    )
    text = writer.text("thought") if writer.chance.random() < 0.5 else ""
    return Reply(text=text, tool_calls=calls, latency=1.0, stop_reason="tool_calls")


def used(writer: Writer, place: str, stage: str) -> str:
    """Record the use of the tool, and return what the model is told."""
    chance = writer.chance.random()
    if chance < 0.2:
        return writer.text("refusal")
    output = writer.text("output") if chance < 0.8 else ""
    error = None if output else writer.text("error")
    written = json.dumps({"place": place})
    writer.events.append(
        ToolUse(stage=stage, tool="look", input=written, output=output, error=error, seconds=0.1)
    )
    return output or f"The call failed: {error}"


def conversation(writer: Writer) -> None:
    """Let a simulated user talk with a model, each of which has the other's words as its user's."""
    scene = Message.of("user", writer.text("scene"))
    rules: Message | None = None
    said: list[str] = []
    for turn in range(1, writer.chance.randint(2, 4)):
        played = [
            Message.of("assistant" if n % 2 == 0 else "user", text) for n, text in enumerate(said)
        ]
        said.append(writer.text("question"))
        writer.ask((scene, *played), Reply(text=said[-1], latency=1.0), f"user {turn}", "user")
        rules = rules or Message.of("system", writer.text("rules"))
        heard = [
            Message.of("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(said)
        ]
        said.append(writer.text("answer"))
        writer.ask((rules, *heard), Reply(text=said[-1], latency=1.0), f"turn {turn}")


def judged(writer: Writer) -> None:
    """Let a judge vote, from the same messages each time."""
    messages = tuple(
        Message.of(kind, writer.text(f"judge's {kind}")) for kind in ("system", "user")
    )
    verdict = writer.text("verdict")
    for _ in range(writer.chance.randint(1, 3)):
        writer.ask(messages, Reply(text=verdict, latency=1.0), "judge", "judge")


def generated(seed: int) -> tuple[Transcript, list[str]]:
    """Return a transcript, and its distinct texts in their order."""
    writer = Writer(Random(seed))
    kind = seed % 3
    if kind == 2:
        conversation(writer)
    else:
        agent(writer, native=kind == 0)
    judged(writer)
    return Transcript(events=tuple(writer.events)), writer.texts
