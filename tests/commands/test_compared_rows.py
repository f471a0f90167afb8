"""Nothing is left out of a comparison without a word: the counts add up to each run's rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from example_rows import row
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_strategies import OUTCOMES

from pytest_llmeval.commands.main import main
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Row
from pytest_llmeval.results.compare import compare
from pytest_llmeval.results.matrix import matrices, uses_in
from pytest_llmeval.results.rows import SCORED, latest
from pytest_llmeval.results.store import RunFolder

SCORED_OFTEN = st.sampled_from(["correct", "incorrect"]) | OUTCOMES

ROWS = st.lists(
    st.builds(
        row,
        sample=st.sampled_from("123456"),
        outcome=SCORED_OFTEN,
        task=st.sampled_from(["sums", "names"]),
        model=st.sampled_from(["small", "large"]),
        epoch=st.integers(1, 2),
        target=st.sampled_from(["4", "5"]),
        question=st.sampled_from(["", "q", "r"]),
    ),
    min_size=1,
    max_size=14,
)


def keep(reports: Path, rows: list[Row], planned: int) -> Path:
    """Keep a run and return its folder."""
    folder = RunFolder.create(reports, {"planned": planned}, redactor=Redactor(secrets={}))
    with closing(folder):
        for one in rows:
            folder.add_row(one)
    return folder.path


@given(a=ROWS, b=ROWS)
def test_what_is_compared_and_left_out_adds_up_to_the_rows_of_each_run(
    a: list[Row], b: list[Row]
) -> None:
    found = compare(a, b)
    assert [use.rows for use in found.uses] == [len(latest(a)), len(latest(b))]
    for use, rows in zip(found.uses, (a, b), strict=True):
        scored = sum(one.outcome in SCORED for one in latest(rows))
        unscored = use.error + use.unscored + use.not_run
        assert use.compared + use.alone + use.retargeted + use.requestioned <= scored
        assert unscored <= len(latest(rows)) - scored
    assert (found.uses[0].compared > 0) == (found.uses[1].compared > 0)
    assert (found.uses[0].compared > 0) == any(pair.n for pair in found.pairs)


@given(runs=st.lists(ROWS, min_size=1, max_size=3))
def test_so_it_does_for_several_runs_side_by_side(runs: list[list[Row]]) -> None:
    named = {str(number): rows for number, rows in enumerate(runs)}
    uses = uses_in(matrices(named), named)
    assert {name: use.rows for name, use in uses.items()} == {
        name: len(latest(rows)) for name, rows in named.items()
    }


@given(a=ROWS, b=ROWS, data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_command_succeeds_only_where_all_was_read_and_something_compared(
    a: list[Row], b: list[Row], data: st.DataObject, capsys: pytest.CaptureFixture[str]
) -> None:
    with TemporaryDirectory() as place:
        folders = [keep(Path(place), rows, len(latest(rows))) for rows in (a, b)]
        file = folders[1] / "rows.jsonl"
        whole = file.read_bytes()
        left = data.draw(st.integers(0, len(whole)) | st.just(len(whole)), label="bytes left")
        file.write_bytes(whole[:left])
        read = [Row.from_json(json.loads(line)) for line in whole[:left].split(b"\n")[:-1]]
        cut = whole[:left][-1:] not in {b"\n", b""} or len(latest(read)) < len(latest(b))
        expected = compare(a, read)
        capsys.readouterr()
        status = main(["compare", *map(str, folders)])
        said = capsys.readouterr()
        if not expected.pairs:
            assert (status, "no part in common" in said.err) == (2, True)
            return
        assert status == int(cut or any(not pair.n for pair in expected.pairs))
        counts = re.findall(r"· ([\d,]+) rows, ([\d,]+) compared(.*)", said.out)
        assert len(counts) == 2
        for (rows, compared, rest), use in zip(counts, expected.uses, strict=True):
            left_out = sum(
                map(int, re.findall(r"(\d+) (?=errors|unscored|not run|of|whose)", rest))
            )
            assert (int(rows), int(compared)) == (use.rows, use.compared)
            assert int(compared) + left_out == int(rows)
        for rows_read in (a, read):
            if superseded := len(rows_read) - len(latest(rows_read)):
                assert f"{superseded} lines of rows.jsonl do not count" in said.err


@given(rows=ROWS, data=st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_report_of_cut_or_absent_rows_is_no_success(
    rows: list[Row], data: st.DataObject, capsys: pytest.CaptureFixture[str]
) -> None:
    with TemporaryDirectory() as place:
        folder = keep(Path(place), rows, len(latest(rows)))
        assert main(["report", str(folder)]) == 0  # the summary is made of whole rows
        file = folder / "rows.jsonl"
        whole = file.read_bytes()
        left = data.draw(st.integers(0, len(whole) - 1), label="bytes left")
        file.write_bytes(whole[:left])
        kept = [Row.from_json(json.loads(line)) for line in whole[:left].split(b"\n")[:-1]]
        # A report knows the outcomes of the rows that its summary was made of.
        lost = outcomes(kept) != outcomes(rows) or whole[:left][-1:] not in {b"\n", b""}
        capsys.readouterr()
        assert main(["report", str(folder)]) == int(lost)
        assert not lost or capsys.readouterr().err


def outcomes(rows: list[Row]) -> Counter[tuple[str, str, str]]:
    """Return how many rows that count have which outcome, by task and model."""
    return Counter((one.task, one.model, one.outcome) for one in latest(rows))
