"""Evidence in a page: its texts are shortened as far as needed, and no row is rendered in vain."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest
from report.html_run import call, row, write_run

from pytest_llmeval.records import Json, Message, Row, Transcript
from pytest_llmeval.report import packed_evidence
from pytest_llmeval.report.evidence import Evidence
from pytest_llmeval.report.pack import Pack
from pytest_llmeval.report.packed_evidence import pack_evidence
from pytest_llmeval.report.pictures import Album
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.results.task_info import TaskInfo

INFOS = {"sums": TaskInfo(title="sums")}


def sample(number: int, length: int) -> tuple[Row, Transcript]:
    """Return a sample whose longest text, the reply, has some length."""
    asked = call(Message.of("user", f"Add up {number} and {number}."), "x" * length)
    return row("sums", str(number), "correct", answer="2"), Transcript(events=(asked,))


def rendered(
    folder: Path, lengths: list[int], budget: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], list[int]]:
    """Pack samples into so many characters; return their JSON and the limits they were tried at."""
    path = write_run(folder, [sample(number, length) for number, length in enumerate(lengths)])
    tried: list[int] = []
    of = Evidence.of

    def counting(self: Evidence, row: Row, transcript: Transcript | None) -> dict[str, Json]:
        tried.append(self.limit)
        return of(self, row, transcript)

    monkeypatch.setattr(Evidence, "of", counting)
    run, pack = read_run(path), Pack(budget)
    places = pack_evidence(run, run.rows, INFOS, pack, Album([path], 0))
    chunks = [json.loads(zlib.decompress(base64.b64decode(one))) for one in pack.chunks()]
    texts = [json.dumps(chunks[at.chunk][at.slot]) for at in places if at is not None]
    return texts, tried


def test_short_rows_are_rendered_once_although_they_exceed_their_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, tried = rendered(tmp_path, [300] * 200, 20_000, monkeypatch)
    assert len(texts) == len(tried) == 200
    assert min(map(len, texts)) > 20_000 / 200 / 0.45  # above the share: each limit would be tried


@pytest.mark.parametrize("length", [300, 1_000, 1_001, 6_000, 6_001, 39_000, 50_000])
def test_evidence_is_what_the_limits_in_turn_would_make_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    short, tried = rendered(tmp_path / "few", [length] * 3, 100, monkeypatch)
    assert len(tried) <= 3 * len(packed_evidence._TEXT_LIMITS)
    reply = json.loads(short[0])["events"][0]["reply"]["text"]
    assert reply == ("x" * length if length <= 1_000 else {"text": "x" * 1_000, "of": length})
    large, _ = rendered(tmp_path / "much", [length] * 3, 10**7, monkeypatch)
    reply = json.loads(large[0])["events"][0]["reply"]["text"]
    assert reply == ("x" * length if length <= 40_000 else {"text": "x" * 40_000, "of": length})
