from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from example_rows import row

from pytest_llmeval.commands.main import main
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import Row
from pytest_llmeval.results.store import RunFolder

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LLMEVAL_REPORT", raising=False)


def keep(rows: Sequence[Row]) -> str:
    with closing(
        RunFolder.create(Path("reports"), {"planned": len(rows)}, redactor=Redactor(secrets={}))
    ) as folder:
        for one in rows:
            folder.add_row(one)
    return str(folder.path)


def told(capsys: Output) -> str:
    """Return what was printed, with single blanks."""
    return " ".join(capsys.readouterr().out.split())


def epochs(wrong: int, *, samples: int = 50) -> list[Row]:
    """Return two epochs, of which the second has so many wrong answers more."""
    return [
        row(str(place), "incorrect" if epoch == 2 and place < wrong else "correct", epoch=epoch)
        for place in range(samples)
        for epoch in (1, 2)
    ]


def test_a_share_of_flips_is_enough_to_plan(capsys: Output) -> None:
    assert main(["plan", "--flips", "0.1", "--drop", "0.05", "--power", "0.8"]) == 0
    out = told(capsys)
    assert "10 % of the samples flip, as told" in out
    assert "1 epoch 363 363 468 468" in out
    assert "passes max_drop 0.05 with the chance 0.8" in out


def test_the_flips_of_a_run_are_those_between_its_epochs(capsys: Output) -> None:
    assert main(["plan", keep(epochs(5))]) == 0
    out = told(capsys)
    assert "demo · openai/small · 50 samples" in out
    assert "10.0 % of the samples flip from epoch to epoch" in out
    assert "1 epoch 363 363 468 468 0.16" in out


def test_a_run_of_one_epoch_takes_another_run_or_a_number(capsys: Output) -> None:
    rows = [one for one in epochs(5) if one.epoch == 1]
    other = [row(one.sample, "incorrect" if int(one.sample) < 5 else "correct") for one in rows]
    first, second = keep(rows), keep(other)
    assert main(["plan", first]) == 2
    assert "one epoch does not tell how many samples flip by chance" in capsys.readouterr().err
    assert main(["plan", first, second]) == 0
    assert "10.0 % of the samples flip between the two runs" in capsys.readouterr().out
    assert main(["plan", first, "--flips", "0.2"]) == 0
    assert "20.0 % of the samples flip as told" in capsys.readouterr().out


def test_that_no_sample_flipped_is_not_taken_for_certain(capsys: Output) -> None:
    assert main(["plan", keep(epochs(0))]) == 0
    assert "of all such samples up to 6.0 % may" in told(capsys)


def test_what_cannot_be_planned_is_refused(capsys: Output) -> None:
    assert main(["plan"]) == 2
    assert "--flips SHARE" in capsys.readouterr().err
    assert main(["plan", "a", "b", "c"]) == 2
    assert "name one run, or two" in capsys.readouterr().err
    right, wrong = (
        keep([row(str(i), outcome) for i in range(4)]) for outcome in ("correct", "incorrect")
    )
    assert main(["plan", right, wrong]) == 2
    assert "are they one model?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    ["--drop=0", "--drop=1", "--drop=nan", "--power=1", "--flips=0.6", "--flips=-1", "--drop=x"],
)
def test_a_number_out_of_its_range_is_refused(option: str, capsys: Output) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--flips", "0.1", option])
    assert ended.value.code == 2
    assert "usage: llmeval plan" in capsys.readouterr().err
