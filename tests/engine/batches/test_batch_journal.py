"""The journal of batches keeps what was written after any end, in the file of the replies."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from engine.requests_and_replies import request, stored
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.engine.batches.journal import BatchJournal, has_batches
from pytest_llmeval.engine.batches.ports import Result
from pytest_llmeval.engine.batches.stored_batch import StoredBatch
from pytest_llmeval.engine.replies import REPLIES, ReplyStore
from pytest_llmeval.errors import UsageError

KEYS = [f"{number:064x}" for number in range(5)]
RESULTS = st.lists(st.builds(Result, st.sampled_from(KEYS), st.booleans(), st.text(max_size=5)))


def batch(mark: str = "m", **fields: object) -> StoredBatch:
    values = {"model": "openai/m", "endpoint": "", "group": "", "created": 1.0, "keys": KEYS[:3]}
    return StoredBatch(mark=mark, **{**values, **fields})  # type: ignore[arg-type]  # tests vary them


@contextmanager
def opened(folder: Path, *copies: BatchJournal) -> Iterator[BatchJournal]:
    with closing(ReplyStore(folder / REPLIES)):
        pass
    with closing(BatchJournal(folder / REPLIES, copies=copies)) as journal:
        yield journal


@given(results=RESULTS, cut=st.integers(0, 30))
def test_of_several_lines_for_a_request_the_first_reply_counts(
    results: list[Result], cut: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as journal:
        journal.begin(batch())
        journal.add_results("m", results[:cut])
        journal.add_results("m", results[cut:])
        for key in KEYS:
            mine = [one for one in results if one.key == key]
            best = next((one for one in mine if one.answered), mine[0] if mine else None)
            assert journal.result(key) == (None if best is None else best.line)


def test_a_batch_is_read_back_as_it_was_written_down(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        journal.begin(batch("b", created=2.0))
        journal.begin(batch("a", keys=tuple(KEYS)))
        journal.sent("b", "batch_1")
    with opened(tmp_path) as again:
        first, second = again.batches()
        assert (first.mark, first.id, list(first.keys)) == ("a", "", KEYS)
        assert (second.mark, second.id, second.is_read) == ("b", "batch_1", False)


def test_what_is_stored_or_failed_for_good_is_forgotten_and_the_rest_is_not(tmp_path: Path) -> None:
    asked = [request(str(number)) for number in range(4)]
    keys = tuple(one.key for one in asked)
    with closing(ReplyStore(tmp_path / REPLIES)) as store:
        store.put(keys[0], stored(asked[0]))
    with opened(tmp_path) as journal:
        journal.begin(batch(keys=keys, id="b"))
        lines = [
            Result(keys[0], True, "0"),
            Result(keys[1], False, "1"),
            Result(keys[2], True, "2"),
        ]
        journal.add_results("m", lines)
        journal.settle({keys[1]})
        (left,) = journal.batches()
        assert left.keys == keys[2:]
        assert [journal.result(key) for key in keys] == [None, None, "2", None]
        journal.read("m")
        journal.settle()
        (left,) = journal.batches()
        assert left.keys == keys[2:3]
        journal.forget(keys[2])
        journal.settle()
        assert journal.batches() == []


def test_a_copy_gets_batches_and_no_results_and_gives_them_to_another_run(tmp_path: Path) -> None:
    for name in ("own", "kept", "next"):
        (tmp_path / name).mkdir()
    with opened(tmp_path / "kept") as kept, opened(tmp_path / "own", kept) as own:
        own.begin(batch("a"))
        own.begin(batch("b", model="openai/other"))
        own.sent("a", "batch_1")
        own.add_results("a", [Result(KEYS[0], True, "line")])
        assert kept.result(KEYS[0]) is None
    with opened(tmp_path / "kept") as kept, opened(tmp_path / "next") as after:
        after.adopt(kept, "openai/m", "")
        assert [one.id for one in after.batches()] == ["batch_1"]
        after.adopt(kept, "openai/m", "http://elsewhere")
        assert len(after.batches()) == 1


def test_a_store_without_batches_is_left_as_it_is(tmp_path: Path) -> None:
    with closing(ReplyStore(tmp_path / REPLIES)):
        pass
    before = (tmp_path / REPLIES).read_bytes()
    assert not has_batches(tmp_path / REPLIES)
    assert not has_batches(tmp_path / "nothing")
    assert (tmp_path / REPLIES).read_bytes() == before
    with opened(tmp_path):
        assert has_batches(tmp_path / REPLIES)


def test_keys_are_redacted_in_stored_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijklmnop1234567890")
    with opened(tmp_path) as journal:
        journal.add_results("m", [Result(KEYS[0], True, '{"a": "sk-abcdefghijklmnop1234567890"}')])
        assert journal.result(KEYS[0]) == '{"a": "[OPENAI_API_KEY]"}'


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / REPLIES).write_bytes(b"no database" * 999)
    with pytest.raises(UsageError, match="batches cannot be noted here"):
        BatchJournal(tmp_path / REPLIES)
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(tmp_path / REPLIES).execute("SELECT * FROM batches")
