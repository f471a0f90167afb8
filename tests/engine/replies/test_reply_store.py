"""The completions store: what it was given it has, whatever becomes of the process."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from requests_and_replies import reply, request

from pytest_llmeval.engine.completions import SCHEMA_VERSION, CompletionStore
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Image, Request, ToolCall

OpenStore = Callable[[], CompletionStore]


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[OpenStore]:
    """Open the same store, as often as called; closed at the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(closing(CompletionStore(tmp_path / "c.sqlite3")))


def test_a_reply_comes_back_whole(open_store: OpenStore) -> None:
    image = Image(digest="ab", media_type="image/png", path="/pictures/ab.png")
    call = ToolCall(id="1", name="query", arguments="{}")
    full = reply(
        "Grüße", images=(image,), tool_calls=(call,), stop_reason="length", model="m-1", created=1e9
    )
    store = open_store()
    store.put(request("a"), full)
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
    store.put(request("a"), reply("x"))
    assert store.get(other.key) is None


def test_a_second_reply_replaces_the_first(open_store: OpenStore) -> None:
    store = open_store()
    store.put(request("a"), reply("one"))
    store.put(request("a"), reply("two"))
    found = store.get(request("a").key)
    assert found is not None
    assert found.reply.text == "two"


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "\u2028", "😀" * 1000, ""])
def test_any_text_a_model_writes_can_be_kept(open_store: OpenStore, text: str) -> None:
    store = open_store()
    store.put(request(text), reply(text))
    found = store.get(request(text).key)
    assert found is not None
    assert found.reply.text == text


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from requests_and_replies import reply, request
from pytest_llmeval.engine.completions import CompletionStore

store = CompletionStore(Path(sys.argv[1]))
for number in range(1000):
    store.put(request(f"q{number}"), reply(f"a{number}"))
    print(number, flush=True)
    if number == 200:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_that_was_stored_survives_the_kill_of_the_process(
    tmp_path: Path, open_store: OpenStore
) -> None:
    file = tmp_path / "c.sqlite3"
    command = [sys.executable, "-c", KILLED, str(file), str(Path(__file__).parent)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    store = open_store()
    for number in map(int, done.stdout.split()):
        found = store.get(request(f"q{number}").key)
        assert found is not None
        assert found.reply.text == f"a{number}"
    store.put(request("after"), reply("goes on"))


def test_others_may_read_while_one_writes(open_store: OpenStore) -> None:
    writer = open_store()
    reader = open_store()
    writer.put(request("a"), reply("x"))
    assert reader.get(request("a").key) is not None


def test_a_store_of_another_schema_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "c.sqlite3"
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version=99")
    before = file.read_bytes()
    with pytest.raises(
        UsageError, match=rf"c\.sqlite3: .*schema version 99; this version reads {SCHEMA_VERSION}"
    ):
        CompletionStore(file)
    assert file.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    content = b"no database at all, but long enough to be mistaken for one" * 100
    file = tmp_path / "c.sqlite3"
    file.write_bytes(content)
    with pytest.raises(
        UsageError, match=r"c\.sqlite3: cannot be used as completions store .*move it away"
    ):
        CompletionStore(file)
    assert file.read_bytes() == content


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be used as completions store"):
        CompletionStore(tmp_path / "nowhere" / "c.sqlite3")
