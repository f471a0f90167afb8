"""Replay answers what was recorded and nothing else, and says what is wrong with a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine.requests_and_replies import reply, request
from engine.virtual_time import run

from pytest_llmeval.engine.replies import Recorder, Recording, StoredReply
from pytest_llmeval.errors import ProviderError, UsageError
from pytest_llmeval.providers.replay import ReplayProvider
from pytest_llmeval.providers.replay_misses import MAX_TOLD
from pytest_llmeval.records import Image, Message, Reply, Request

SECOND = Message.of("user", "And the mass?")


def add(recorder: Recorder, asked: Request, answered: Reply) -> None:
    recorder.add(StoredReply.of(asked, answered))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a recording of three requests."""
    file = tmp_path / "replies.jsonl"
    recorder = Recorder(file)
    add(recorder, request("What is the mass of the block?", temperature=0), reply("2 kg"))
    add(recorder, request("What is the speed of the cart?", temperature=0), reply("3 m/s"))
    add(recorder, request("Refine the drawing", temperature=0, top_p=1), reply("done"))
    recorder.close()
    return file


def send(file: Path, asked: Request) -> str:
    return run(ReplayProvider(file).send(asked)).text


def test_a_recorded_request_is_answered_whoever_is_asked(file: Path) -> None:
    asked = request("What is the speed of the cart?", temperature=0)
    assert send(file, asked) == "3 m/s"
    other = Request(
        provider="replay", model=str(file), messages=asked.messages, parameters=asked.parameters
    )
    assert send(file, other) == "3 m/s"


@pytest.mark.parametrize(
    ("asked", "differs"),
    [
        (
            request("What is the speed of the train?", temperature=0),
            r'messages\[0\]\.parts\[0\]\.text: asked ".*train\?", recorded ".*cart\?"$',
        ),
        (
            request("What is the speed of the cart?", temperature=1),
            "parameters.temperature: asked 1, recorded 0$",
        ),
        (
            request("What is the speed of the cart?"),
            "parameters.temperature: asked without, recorded 0$",
        ),
        (
            request("What is the speed of the cart?", temperature=0, seed=5),
            "parameters.seed: asked 5, recorded without$",
        ),
        (
            request("What is the speed of the cart?", temperature=0, draw=2),
            "draw: asked 2, recorded 0$",
        ),
        (
            request("What is the speed of the cart?", temperature=0, epoch=2),
            "epoch: asked 2, recorded 1$",
        ),
        (
            request("Refine the drawings", temperature=0, top_p=1),
            (
                r'messages\[0\]\.parts\[0\]\.text: asked "Refine the drawings", '
                r'recorded "Refine the drawing"$'
            ),
        ),
        (
            Request(
                provider="p", model="m", messages=(*request("Refine the drawing").messages, SECOND)
            ),
            (
                r"messages: asked .*; parameters.temperature: asked without, recorded 0; "
                r"parameters.top_p"
            ),
        ),
        (
            Request(
                operation="image", provider="p", model="m", messages=(SECOND,), epoch=3, draw=4
            ),
            "draw: asked 4, recorded 0; epoch: asked 3, recorded 1; messages.*; and [23] more",
        ),
    ],
    ids=[
        "prompt",
        "parameter",
        "no parameter",
        "seed",
        "draw",
        "epoch",
        "neighbour",
        "message more",
        "all",
    ],
)
def test_a_miss_shows_the_nearest_recorded_request_and_where_it_differs(
    file: Path, asked: Request, differs: str
) -> None:
    with pytest.raises(
        ProviderError,
        match=rf"no recorded reply to this request; the nearest one differs in {differs}",
    ) as caught:
        send(file, asked)
    assert str(file) in str(caught.value)
    assert caught.value.cause == "replay"
    assert caught.value.reach == "sample"


def test_only_what_differs_is_told(file: Path) -> None:
    with pytest.raises(ProviderError) as caught:
        send(file, request("What is the speed of the cart?", temperature=0, draw=1))
    assert "messages" not in str(caught.value)
    assert "parameters" not in str(caught.value)


def test_another_picture_is_told_by_its_digest(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "replies.jsonl")
    one, other = (
        Image(digest=letter * 64, media_type="image/png", path="x.png") for letter in "ab"
    )
    add(recorder, request("Look", image=one), reply("a circle"))
    recorder.close()
    with pytest.raises(
        ProviderError,
        match=r"messages\[0\]\.parts\[1\]\.image: asked \"b{64}\", recorded \"a{64}\"$",
    ):
        send(tmp_path / "replies.jsonl", request("Look", image=other))


def test_of_a_long_prompt_the_first_difference_is_told(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "replies.jsonl")
    add(recorder, request(f"{'long ' * 200}red {'tail ' * 200}"), reply("a"))
    recorder.close()
    with pytest.raises(ProviderError) as caught:
        send(tmp_path / "replies.jsonl", request(f"{'long ' * 200}blue {'tail ' * 200}"))
    told = str(caught.value).partition("the nearest one differs in ")[2]
    assert "long blue tail" in told
    assert "long red tail" in told
    assert "(from character 1001 on)" in told
    assert len(told) < 300


def test_after_many_misses_none_is_searched_for_any_more(file: Path) -> None:
    provider = ReplayProvider(file)
    for number in range(MAX_TOLD):
        with pytest.raises(ProviderError, match="the nearest one differs"):
            run(provider.send(request(f"other {number}")))
    with pytest.raises(ProviderError, match="the misses before it tell more"):
        run(provider.send(request("other")))
    assert (
        run(provider.send(request("What is the speed of the cart?", temperature=0))).text == "3 m/s"
    )


def test_an_empty_recording_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(ProviderError, match="the recording is empty"):
        send(tmp_path / "empty.jsonl", request("a"))


def test_a_recording_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"nowhere\.jsonl: the recording cannot be read: No such file"
    ):
        ReplayProvider(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON\n",
        b"[]\n",
        b"3\n",
        b"{}\n",
        b'{"key": "a", "reply": {}}\n',
        b"\xff\xfe\n",
        b"\n",
        b"notes",
    ],
)
def test_a_line_that_is_none_is_told_with_file_and_number(file: Path, line: bytes) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:1], line, *(lines[1:] if line.endswith(b"\n") else [])]))
    with pytest.raises(UsageError, match=r"replies\.jsonl:2: not a line of a recording"):
        ReplayProvider(file)


def test_two_models_replies_to_the_same_request_are_refused(file: Path) -> None:
    line = json.loads(file.read_text().splitlines()[0])
    file.write_text(file.read_text() + json.dumps(line | {"model": "openai/other"}) + "\n")
    with pytest.raises(
        UsageError, match="two replies to the same request, by openai/m and openai/other"
    ):
        ReplayProvider(file)


def test_a_last_line_cut_by_a_kill_is_passed_over(file: Path) -> None:
    whole = file.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    for length in (0, 1, 5, 40, len(last) - 2):
        file.write_bytes(whole[: len(whole) - len(last) + length])
        assert len(Recording(file).lines) == 2
    # Whole but for its line's end, it counts.
    file.write_bytes(whole.removesuffix(b"\n"))
    assert len(Recording(file).lines) == 3
