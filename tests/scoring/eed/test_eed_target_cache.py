"""Simplified targets on disk: the same scores with and without, whatever has become of the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sympy

from pytest_llmeval.scoring.eed import (
    EedResult,
    Mode,
    Sandbox,
    corrected,
    eed_score,
    eed_score_many,
    published,
)
from pytest_llmeval.scoring.eed.expression_json import NotPlain, from_json, to_json
from pytest_llmeval.scoring.eed.reading import read
from pytest_llmeval.scoring.eed.result import GRADERS
from pytest_llmeval.scoring.eed.scoring import score_pair
from pytest_llmeval.scoring.eed.target_cache import TargetCache

HERE = Path(__file__).parent
FORMULAS = [
    case["latex"] for case in json.loads((HERE / "readings.json").read_text(encoding="utf-8"))
]
MODES: tuple[Mode, ...] = ("corrected", "published")
PAIR = (r"3\sin^2 x+3\cos^2 x+y", r"2\sin^2 x+2\cos^2 x+y")


def scored(folder: Path, mode: Mode) -> EedResult:
    """Score the pair as a process does that has just started."""
    corrected.simplified_target.cache_clear()
    published.read_target.cache_clear()
    return score_pair(*PAIR, mode=mode, cache=TargetCache(folder))


def test_formulas_survive_json_sign_by_sign() -> None:
    lost = []
    for latex in FORMULAS:
        formula = read(latex).formula
        try:
            written = to_json(formula)
        except NotPlain:
            lost.append(latex)
            continue
        assert sympy.srepr(from_json(json.loads(json.dumps(written)))) == sympy.srepr(formula)
    assert len(lost) < 0.15 * len(FORMULAS)  # sums, integrals and limits are worked out anew


def test_what_is_unevaluated_stays_so() -> None:
    product = sympy.Mul(2, sympy.Mul(3, sympy.Symbol("x"), evaluate=False), evaluate=False)
    assert sympy.srepr(from_json(to_json(product))) == sympy.srepr(product)


@pytest.mark.parametrize(
    "data",
    [
        *(
            None,
            7,
            "x",
            [],
            {},
            ["constant", "__import__('os')"],
            ["symbol", "x"],
            ["rational", "1", "0.5"],
        ),
        *(
            ["operator", "Lambda", []],
            ["operator", "Pow", ["symbol", "x", True]],
            ["function", "sin"],
        ),
    ],
)
def test_json_that_writes_no_expression_is_refused(data: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        from_json(data)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", MODES)
def test_a_target_is_taken_from_its_file(tmp_path: Path, mode: Mode) -> None:
    assert scored(tmp_path, mode) == scored(tmp_path, mode) == eed_score(*PAIR, mode=mode)
    (file,) = tmp_path.iterdir()
    *versions, text = json.loads(file.read_text(encoding="utf-8"))["key"]
    assert {f"sympy {sympy.__version__}", GRADERS[mode]} <= set(versions)
    TargetCache(tmp_path).save(mode, text, [sympy.Symbol("z")] * (1 if mode == "corrected" else 2))
    assert scored(tmp_path, mode).tree_size == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"\xff\x00",
        b"[]",
        b'{"key": [], "expressions": [], "sha256": ""}',
        "cut",
        "changed",
    ],
)
def test_a_broken_file_is_worked_out_anew_and_replaced(
    tmp_path: Path, mode: Mode, broken: bytes | str
) -> None:
    scored(tmp_path, mode)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    damage = {"cut": whole[: len(whole) // 2], "changed": whole.replace(b'"2"', b'"7"')}
    file.write_bytes(broken if isinstance(broken, bytes) else damage[broken])
    assert file.read_bytes() != whole
    assert scored(tmp_path, mode) == eed_score(*PAIR, mode=mode)
    assert file.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.touch()
    assert scored(file / "folder", "corrected") == eed_score(*PAIR)
    with pytest.raises(OSError, match="a file"):
        Sandbox(cache=file / "folder")


def test_children_share_a_cache_and_leave_whole_files_alone(tmp_path: Path) -> None:
    pairs = [(f"{k} x + y", "3 x + y") for k in range(2, 30)]
    plain = [eed_score(*pair) for pair in pairs]
    for processes in (2, 1):
        assert list(eed_score_many(pairs, processes=processes, cache=tmp_path / "cache")) == plain
    (file,) = (tmp_path / "cache").iterdir()
    assert file.suffix == ".json"
