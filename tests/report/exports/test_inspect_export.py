"""Logs of Inspect, read back by Inspect itself."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from example_pictures import PNG
from example_rows import eed, row
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from record_strategies import ROWS, TRANSCRIPTS
from stored_runs import stored

from pytest_llmeval.records import (
    Asked,
    Image,
    ImagePart,
    Message,
    ModelCall,
    Reply,
    Row,
    RowKey,
    TextPart,
    ToolCall,
    ToolUse,
    Transcript,
    Usage,
)
from pytest_llmeval.report.exports.export import Exported
from pytest_llmeval.report.exports.inspect_log import inspect_logs
from pytest_llmeval.results.run import Run
from pytest_llmeval.roles import SOLVER

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # those of Inspect's own imports
    inspect_log = pytest.importorskip("inspect_ai.log")


def written(run: Run) -> list[Path]:
    folder = run.path / "logs"
    folder.mkdir(exist_ok=True)
    paths = []
    for file in inspect_logs(Exported(run=run)):
        paths.append(folder / file.name)
        paths[-1].write_text("".join(file.parts), "utf-8")
    return paths


def logs_of(run: Run) -> dict[tuple[str, str, str], Any]:
    """Return what Inspect reads, by task, test and model."""
    logs = [
        inspect_log.read_eval_log(str(path), resolve_attachments="full") for path in written(run)
    ]
    return {(log.eval.task, log.metadata["test"], log.eval.model): log for log in logs}


def readable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@settings(max_examples=40, deadline=None, phases=set(Phase) - {Phase.shrink, Phase.explain})
@given(st.lists(st.tuples(ROWS, st.none() | TRANSCRIPTS), min_size=1, max_size=3))
def test_inspect_reads_every_sample_with_its_scores_messages_usage_and_errors(
    folder: Path, pairs: list[tuple[Row, Transcript | None]]
) -> None:
    transcripts = {one.key: kept for one, kept in pairs if kept is not None}
    run = stored(folder, [one for one, _ in pairs], transcripts)
    logs = logs_of(run)
    found = {
        RowKey(test, task, sample.id, model, sample.epoch): sample
        for (task, test, model), log in logs.items()
        for sample in log.samples
    }
    ran = {one.key: one for one in run.rows if one.outcome != "not run"}
    assert found.keys() == ran.keys()
    for key, one in ran.items():
        check_sample(found[key], one, run.transcripts.get(key))
    check_results(run, logs)


def check_sample(sample: Any, one: Row, transcript: Transcript | None) -> None:
    targets = one.target if isinstance(one.target, tuple) else one.target_text
    assert sample.target == (
        readable(targets) if isinstance(targets, str) else list(map(readable, targets))
    )
    if one.outcome == "error":
        assert sample.error.message == readable(one.explanation)
    else:
        assert sample.error is None
        expected = {"correct": "C", "incorrect": "I"}.get(one.outcome)
        value = sample.scores["outcome"].value
        assert value == expected if expected else math.isnan(value)
    for score in one.scores:
        name = "outcome (score)" if score.name == "outcome" else score.name
        last = next(other for other in reversed(one.scores) if other.name == score.name)
        value = sample.scores[name].value
        assert value == last.value if last.value is not None else math.isnan(value)
        assert sample.scores[name].metadata["correct"] == last.correct
    check_usage(sample.model_usage, one.usage if transcript is None else transcript.usage)
    if transcript is not None:
        assert len(sample.events) == len(transcript.events)
        check_messages(sample.messages, transcript)


def check_usage(found: Mapping[str, Any], usage: Usage) -> None:
    """Check the sums over models, with Inspect's counts: caches are apart from its input."""
    inputs = [
        one.input_tokens + one.input_tokens_cache_read + one.input_tokens_cache_write
        for one in found.values()
    ]
    assert sum(inputs) == usage.input_tokens
    assert sum(one.output_tokens for one in found.values()) == usage.output_tokens
    assert sum(one.total_tokens for one in found.values()) == usage.total_tokens
    assert sum(one.reasoning_tokens for one in found.values()) == usage.reasoning_tokens
    costs = [one.total_cost for one in found.values() if one.total_cost is not None]
    assert sum(costs) == pytest.approx(usage.cost or 0)


def check_messages(found: list[Any], transcript: Transcript) -> None:
    """Check the last chat of the solver, message by message, and its reply."""
    calls = [
        call for call in transcript.calls if call.asked.role == SOLVER and not call.asked.of_scorer
    ]
    if not calls:
        assert found == []
        return
    last = calls[-1]
    assert [(one.role, one.text) for one in found] == [
        *((one.role, readable(one.text)) for one in last.asked.messages),
        ("assistant", readable(last.reply.text)),
    ]
    wished = [one.tool_calls for one in last.asked.messages if one.role == "assistant"]
    for one, calls_of in zip(
        (one for one in found if one.role == "assistant"),
        (*wished, last.reply.tool_calls),
        strict=True,
    ):
        for told, call in zip(one.tool_calls or (), calls_of, strict=True):
            assert (told.id, told.function) == (readable(call.id), readable(call.name))
            if told.parse_error is None:
                assert told.arguments == json.loads(call.arguments)
            else:
                assert told.arguments == {"arguments": readable(call.arguments)}


def check_results(run: Run, logs: Mapping[tuple[str, str, str], Any]) -> None:
    for entry in run.summary.entries:
        log = logs[entry.task, entry.test, entry.model]
        accuracy = log.results.scores[0].metrics.get("accuracy")
        assert (accuracy and accuracy.value) == entry.figures.accuracy.value
        assert log.results.total_samples == entry.figures.counts.planned
        means = {one.name: one.metrics["mean"].value for one in log.results.scores[1:]}
        assert means == {mean.name: mean.value for mean in entry.figures.scores}


QUESTION = Message.of("user", "How many boats?")
CALL = ToolCall(id="c1", name="ask", arguments='{"place": "harbour"}')


def call(*messages: Message, role: str = SOLVER, **reply: Any) -> ModelCall:
    asked = Asked(
        stage="turn",
        role=role,
        scorer="",
        model="openai/x",
        parameters={},
        messages=messages,
        key="k",
    )
    return ModelCall(asked=asked, reply=Reply(**{"text": "", **reply}))


def test_a_tool_is_called_by_name_in_messages_and_events(tmp_path: Path) -> None:
    wish = Message(role="assistant", parts=(), tool_calls=(CALL,))
    answer = Message(role="tool", parts=(TextPart(text="12"),), tool_call_id="c1")
    transcript = Transcript(
        events=(
            call(QUESTION, tool_calls=(CALL,), stop_reason="tool_calls"),
            ToolUse(stage="turn", tool="ask", input=CALL.arguments, output="12"),
            call(QUESTION, wish, answer, text="12 boats", reasoning="I count."),
            call(QUESTION, role="judge", text="yes"),
        )
    )
    [log] = logs_of(stored(tmp_path, [row("1")], {row("1").key: transcript})).values()
    [sample] = log.samples
    assert [one.role for one in sample.messages] == ["user", "assistant", "tool", "assistant"]
    assert sample.messages[1].tool_calls[0].arguments == {"place": "harbour"}
    assert (sample.messages[2].function, sample.messages[2].tool_call_id) == ("ask", "c1")
    assert [part.type for part in sample.messages[3].content] == ["reasoning", "text"]
    assert sample.output.completion == "12 boats"
    models = [one for one in sample.events if one.event == "model"]
    assert [(one.role, len(one.input)) for one in models] == [(None, 1), (None, 3), ("judge", 1)]
    [use] = (one for one in sample.events if one.event == "tool")
    assert (use.function, use.arguments, use.result) == ("ask", {"place": "harbour"}, "12")


@pytest.mark.parametrize("levels", [90, 250, 100_000])
def test_arguments_of_any_depth_leave_the_log_readable(levels: int, tmp_path: Path) -> None:
    arguments = f'{{"a": {"[" * levels}{"]" * levels}}}'
    wish = ToolCall(id="c1", name="ask", arguments=arguments)
    transcript = Transcript(
        events=(
            call(QUESTION, tool_calls=(wish,), stop_reason="tool_calls"),
            ToolUse(stage="turn", tool="ask", input=arguments, output="12"),
        )
    )
    [log] = logs_of(stored(tmp_path, [row("1")], {row("1").key: transcript})).values()
    [told] = log.samples[0].messages[-1].tool_calls
    assert (told.parse_error is None) == (levels == 90)
    assert told.arguments == (json.loads(arguments) if levels == 90 else {"arguments": arguments})


def test_a_picture_stands_once_and_one_that_is_gone_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    there = Image.load(tmp_path / "a.png")
    gone = Image(digest="0" * 64, media_type="image/png", path=str(tmp_path / "gone.png"))
    shown = Message(role="user", parts=(ImagePart(image=there), ImagePart(image=gone)))
    transcript = Transcript(events=(call(shown, text="a"), call(shown, text="b")))
    run = stored(tmp_path, [row("1")], {row("1").key: transcript})
    [path] = written(run)
    assert path.read_text("utf-8").count("base64,") == 1
    [log] = logs_of(run).values()
    pictures = [part.image for part in log.samples[0].messages[0].content]
    assert pictures[0].startswith("data:image/png;base64,")
    assert pictures[1] == gone.path


def test_a_log_tells_run_model_dataset_and_what_was_not_run(tmp_path: Path) -> None:
    rows = [row("1", scores=eed(50)), row("1", epoch=2), row("2", "not run")]
    run = stored(tmp_path, rows)
    [path] = written(run)
    assert path.name.startswith("2026-11-23T07-18-17-00-00_demo_")
    [listed] = inspect_log.list_eval_logs(str(path.parent))
    log = inspect_log.read_eval_log(listed, header_only=True)
    assert (log.status, log.eval.model, log.eval.run_id) == ("cancelled", "openai/small", run.name)
    assert (log.eval.config.epochs, log.eval.dataset.sample_ids) == (2, ["1"])
    assert log.results.total_samples == 3


def test_samples_stand_in_the_order_of_numbers(tmp_path: Path) -> None:
    run = stored(tmp_path, [row(sample) for sample in ("101", "81", "b", "9", "a")])
    (log,) = logs_of(run).values()
    assert [sample.id for sample in log.samples] == ["9", "81", "101", "a", "b"]
