"""The reply store: what it was given it has, whatever becomes of the process."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from engine.requests_and_replies import reply, request, stored

from pytest_llmeval.engine.replies.store import SCHEMA_VERSION, ReplyStore
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Image, Request, ToolCall

OpenStore = Callable[[], ReplyStore]


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[OpenStore]:
    """Open the same store, as often as called; closed at the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(ReplyStore(tmp_path / "replies.sqlite3")))


def test_a_reply_comes_back_whole(open_store: OpenStore) -> None:
    image = Image(digest="ab", media_type="image/png", path="/pictures/ab.png")
    call = ToolCall(id="1", name="query", arguments="{}")
    full = reply(
        "Grüße", images=(image,), tool_calls=(call,), stop_reason="length", model="m-1", created=1e9
    )
    store = open_store()
    store.put(request("a").key, StoredReply.of(request("a"), full))
    store.close()
    found = open_store().get(request("a").key)
    assert found is not None
    assert found.reply == full
    assert found.created == 1e9


def test_what_was_never_stored_is_not_found(open_store: OpenStore) -> None:
    assert open_store().get(request("a").key) is None


@pytest.mark.parametrize(
    "other",
    [request("b"), request("a", draw=1), request("a", epoch=2), request("a", temperature=0)],
    ids=["prompt", "draw", "epoch", "parameters"],
)
def test_another_request_is_not_found(open_store: OpenStore, other: Request) -> None:
    store = open_store()
    store.put(request("a").key, stored(request("a")))
    assert store.get(other.key) is None


def test_a_second_reply_replaces_the_first(open_store: OpenStore) -> None:
    store = open_store()
    store.put(request("a").key, stored(request("a"), "one"))
    store.put(request("a").key, stored(request("a"), "two"))
    found = store.get(request("a").key)
    assert found is not None
    assert found.reply.text == "two"


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\u2028", "😀" * 1000, ""])
def test_any_text_a_model_writes_can_be_kept(open_store: OpenStore, text: str) -> None:
    store = open_store()
    store.put(request(text).key, stored(request(text), text))
    found = store.get(request(text).key)
    assert found is not None
    assert found.reply.text == text


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from engine.requests_and_replies import request, stored
from pytest_llmeval.engine.replies import ReplyStore

store = ReplyStore(Path(sys.argv[1]))
for number in range(1000):
    asked = request(f"q{number}")
    store.put(asked.key, stored(asked, f"a{number}"))
    print(number, flush=True)
    if number == 200:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_that_was_stored_survives_the_kill_of_the_process(
    tmp_path: Path, open_store: OpenStore
) -> None:
    file = tmp_path / "replies.sqlite3"
    command = [sys.executable, "-c", KILLED, str(file), str(Path(__file__).parents[2])]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    store = open_store()
    for number in map(int, done.stdout.split()):
        found = store.get(request(f"q{number}").key)
        assert found is not None
        assert found.reply.text == f"a{number}"
    store.put(request("after").key, stored(request("after"), "goes on"))


def test_others_may_read_while_one_writes(open_store: OpenStore) -> None:
    writer = open_store()
    reader = open_store()
    writer.put(request("a").key, stored(request("a")))
    assert reader.get(request("a").key) is not None


def test_a_store_of_another_schema_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "replies.sqlite3"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version=99")
    before = file.read_bytes()
    with pytest.raises(
        UsageError,
        match=rf"replies\.sqlite3: .*schema version 99; this version reads {SCHEMA_VERSION}",
    ):
        ReplyStore(file)
    assert file.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    content = b"no database at all, but long enough to be mistaken for one" * 100
    file = tmp_path / "replies.sqlite3"
    file.write_bytes(content)
    with pytest.raises(
        UsageError, match=r"replies\.sqlite3: cannot be used as reply store .*move it away"
    ):
        ReplyStore(file)
    assert file.read_bytes() == content


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be used as reply store"):
        ReplyStore(tmp_path / "nowhere" / "replies.sqlite3")


def test_replies_of_an_earlier_version_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "completions.sqlite3").touch()
    with pytest.raises(
        UsageError, match=r"completions\.sqlite3: replies of an earlier version.*start a new run"
    ):
        ReplyStore(tmp_path / "replies.sqlite3")
    assert [file.name for file in tmp_path.iterdir()] == ["completions.sqlite3"]


def test_a_row_holds_the_json_object_of_a_recordings_line(tmp_path: Path) -> None:
    one = stored(request("a", temperature=0), "yes", created=1e9)
    with closing(ReplyStore(tmp_path / "replies.sqlite3")) as store:
        store.put(request("a", temperature=0).key, one)
    with closing(sqlite3.connect(tmp_path / "replies.sqlite3")) as connection:
        ((record,),) = connection.execute("SELECT record FROM replies")
    assert StoredReply.from_json(json.loads(record)) == one
    assert json.loads(record).keys() == {"key", "content", "model", "reply", "created"}
    assert one.request_key == request("a", temperature=0).key
