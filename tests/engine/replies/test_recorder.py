"""Recording: each reply at once, in stable order at the end, and nothing lost by a kill."""

from __future__ import annotations

import hashlib
import json
import shutil
import tracemalloc
from pathlib import Path

import pytest
from engine.requests_and_replies import reply, request
from engine.virtual_time import run
from msgspec.structs import replace

from pytest_llmeval.engine.replies import Recorder, Recording, StoredReply, read_recording
from pytest_llmeval.errors import UsageError
from pytest_llmeval.providers.replay import ReplayProvider
from pytest_llmeval.records import Image, Reply, Request
from pytest_llmeval.records.request import content_key

PNG = b"\x89PNG\r\n\x1a\n picture "


def picture(folder: Path, name: str, content: bytes = PNG) -> Image:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return Image.load(folder / name)


def recorded(asked: Request, answered: Reply, model: str = "openai/m") -> StoredReply:
    return replace(StoredReply.of(asked, answered), model=model)


def record(file: Path, *pairs: tuple[Request, Reply], model: str = "openai/m") -> None:
    recorder = Recorder(file)
    for asked, answered in pairs:
        recorder.add(recorded(asked, answered, model))
    recorder.close()


def test_all_stages_of_a_pipeline_are_replayed_with_their_pictures(tmp_path: Path) -> None:
    drawn = picture(tmp_path / "run", "drawn.png")
    stages = [
        (request("what to draw?"), reply("a line AB")),
        (request("draw a line AB"), reply("", images=(drawn,))),
        (request("answer", image=drawn), reply("42")),
    ]
    record(tmp_path / "replies.jsonl", *stages)
    shutil.rmtree(tmp_path / "run")
    provider = ReplayProvider(tmp_path / "replies.jsonl")
    assert run(provider.send(stages[0][0])).text == "a line AB"
    (image,) = run(provider.send(stages[1][0])).images
    assert image.read() == PNG
    assert run(provider.send(request("answer", image=image))).text == "42"


def test_a_picture_is_copied_once_under_its_digest_and_named_relative_to_the_recording(
    tmp_path: Path,
) -> None:
    one, two = picture(tmp_path / "run", "one.png"), picture(tmp_path / "run", "two.png")
    file = tmp_path / "replies.jsonl"
    record(file, (request("a"), reply("", images=(one,))), (request("b"), reply("", images=(two,))))
    kept = f"{hashlib.sha256(PNG).hexdigest()}.png"
    assert [path.name for path in (tmp_path / "replies-images").iterdir()] == [kept]
    paths = {
        json.loads(line)["reply"]["images"][0]["path"] for line in file.read_text().splitlines()
    }
    assert paths == {f"replies-images/{kept}"}


def test_a_recording_moves_with_its_pictures(tmp_path: Path) -> None:
    image = picture(tmp_path / "run", "one.png")
    record(tmp_path / "here" / "replies.jsonl", (request("a"), reply("", images=(image,))))
    shutil.move(tmp_path / "here", tmp_path / "there")
    (line,) = read_recording(tmp_path / "there" / "replies.jsonl")
    assert line.reply.images[0].read() == PNG


def test_a_copied_recording_that_is_recorded_on_takes_its_pictures_along(tmp_path: Path) -> None:
    image = picture(tmp_path / "run", "one.png")
    record(tmp_path / "a.jsonl", (request("a"), reply("", images=(image,))))
    shutil.copy(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    record(tmp_path / "b.jsonl", (request("b"), reply("x")))
    shutil.rmtree(tmp_path / "a-images")
    pictures = [
        image for line in read_recording(tmp_path / "b.jsonl") for image in line.reply.images
    ]
    assert [picture.read() for picture in pictures] == [PNG]


def test_the_file_is_the_same_in_whatever_order_replies_came(tmp_path: Path) -> None:
    pairs = [
        (request(f"q{number}"), reply(f"a{number}", created=number + 1.0)) for number in range(20)
    ]
    record(tmp_path / "one.jsonl", *pairs)
    record(tmp_path / "two.jsonl", *reversed(pairs))
    text = (tmp_path / "one.jsonl").read_text()
    assert text == (tmp_path / "two.jsonl").read_text()
    keys = [json.loads(line)["key"] for line in text.splitlines()]
    assert keys == sorted(keys)


def test_recording_on_keeps_what_is_there_and_replaces_what_is_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    record(file, (request("a"), reply("old a")), (request("b"), reply("old b")))
    record(
        file, (request("b"), reply("new b")), (request("c"), reply("new c")), model="openai/other"
    )
    assert {(line.model, line.reply.text) for line in read_recording(file)} == {
        ("openai/m", "old a"),
        ("openai/other", "new b"),
        ("openai/other", "new c"),
    }


def test_a_recording_that_was_killed_holds_every_reply_it_was_given(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    recorder = Recorder(file)
    for number in range(5):
        recorder.add(recorded(request(f"q{number}"), reply(f"a{number}")))
    # Never closed; the kill came in the middle of a line.
    killed = tmp_path / "killed.jsonl"
    killed.write_bytes(file.read_bytes() + b'{"content": {"draw": 0, "ep')
    recorder.close()
    assert run(ReplayProvider(killed).send(request("q4"))).text == "a4"
    record(killed, (request("q5"), reply("a5")))
    assert sorted(line.reply.text for line in read_recording(killed)) == [
        f"a{number}" for number in range(6)
    ]


@pytest.mark.parametrize("text", ["\ud800", "\u2028\u0085", "Grüße 😀", "a\x00\r\nb"])
def test_any_text_a_model_writes_survives(tmp_path: Path, text: str) -> None:
    file = tmp_path / "replies.jsonl"
    record(file, (request(text), reply(text)))
    record(file, (request("another"), reply("x")))
    assert run(ReplayProvider(file).send(request(text))).text == text
    file.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["notes of mine", '{"samples": [1, 2]}', "- yaml\n"])
def test_a_file_that_is_no_recording_is_refused_and_left_as_it_is(
    tmp_path: Path, content: str
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(content)
    with pytest.raises(UsageError, match=r"notes\.txt:1: not a line of a recording"):
        Recorder(file)
    assert file.read_text() == content


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"replies\.jsonl: replies cannot be recorded here"):
        Recorder(tmp_path / "file" / "replies.jsonl")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="folder: replies cannot be recorded here"):
        Recorder(tmp_path / "folder")


@pytest.mark.parametrize(
    "file",
    sorted((Path(__file__).parents[3] / "fixtures").glob("*/replies.jsonl")),
    ids=lambda file: file.parent.name,
)
def test_committed_recordings_are_read_and_their_keys_are_those_of_their_content(
    file: Path,
) -> None:
    lines = list(read_recording(file))
    assert lines
    assert all(content_key(line.content) == line.key for line in lines)
    assert all(image.path.startswith(str(file.parent)) for line in lines for image in line.images)


def test_a_recording_holds_a_reply_to_a_request_for_each_role(tmp_path: Path) -> None:
    file, asked = tmp_path / "replies.jsonl", request("what now?")
    recorder = Recorder(file)
    for role in ("solver", "user", "judge"):
        recorder.add(recorded(replace(asked, role=role), reply(role), f"openai/{role}"))
    recorder.close()
    again = Recorder(file)  # recorded on, it keeps them all
    again.add(recorded(replace(asked, role="user"), reply("user, anew"), "openai/user"))
    again.close()
    provider = ReplayProvider(file)
    texts = {"solver": "solver", "user": "user, anew", "judge": "judge"}
    for role, text in texts.items():
        assert run(provider.send(replace(asked, role=role, provider="replay"))).text == text
    # A line without a role, as in older recordings, is of the model under test; a role that no line
    # has is answered by it.
    other = replace(asked, role="other", provider="replay")
    assert run(provider.send(other)).text == "solver"


def test_a_model_that_was_asked_one_thing_in_two_roles_has_one_line(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    alike, own = request("alike"), replace(request("own"), role="user")
    record(file, (alike, reply("one call")), (own, reply("its own")))
    provider = ReplayProvider(file)
    assert run(provider.send(replace(alike, role="user", provider="replay"))).text == "one call"


def test_two_models_of_one_role_cannot_share_a_recording(tmp_path: Path) -> None:
    file, asked = tmp_path / "replies.jsonl", replace(request("x"), role="user")
    lines = [json.dumps(recorded(asked, reply("y"), f"openai/{model}").to_json()) for model in "ab"]
    file.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(UsageError, match="two replies to the same request, by openai/a and openai"):
        ReplayProvider(file)


def test_a_named_model_of_a_role_takes_its_own_replies_only(tmp_path: Path) -> None:
    file, asked = tmp_path / "replies.jsonl", replace(request("x"), role="user")
    record(file, (asked, reply("y")), model="openai/m")
    kept = Recording(file)
    assert kept.find(asked) is not None
    assert kept.find(replace(asked, model="other")) is None
    assert kept.find(replace(asked, provider="replay", model="f")) is not None


def test_texts_of_replies_are_in_the_file_and_not_in_memory(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    record(file, *((request(f"before {n}"), reply("r" * 100_000)) for n in range(20)))
    tracemalloc.start()
    recorder = Recorder(file)
    for number in range(40):
        asked = request(f"question {number % 20}" + "?" * 100_000)
        recorder.add(recorded(asked, reply(f"{number} " + "r" * 100_000)))
    held, _ = tracemalloc.get_traced_memory()
    recorder.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 400_000
    assert peak < 3_000_000
    lines = list(read_recording(file))
    assert len(lines) == len({line.key for line in lines}) == 40
    assert [line.key for line in lines] == sorted(line.key for line in lines)
    last = {line.reply.text.split()[0] for line in lines if " " in line.reply.text}
    assert last == {str(number) for number in range(20, 40)}
