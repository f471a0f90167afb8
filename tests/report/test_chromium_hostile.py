"""Whatever a dataset, a model or a provider wrote is text in the table of samples."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from report.html_run import ATTACK, ATTACKS, row, write_report, write_run
from report.in_chromium import ACTIVE, Open

from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.questions import Question
from pytest_llmeval.results.run_files import SAMPLES

CORPUS = Path(__file__).parents[1] / "scoring" / "eed" / "hostile.json"
SIGNS = [
    number
    for number in range(0xFFFF)
    if unicodedata.category(chr(number)) in {"Cc", "Cf", "Zl", "Zp"}
]
"""Characters without a shape, which may steer what shows them; U+D800 stands for half pairs."""


def texts() -> list[str]:
    """Return attacks on the page, answers that attacked a scorer, and signs within markup."""
    answers = [
        "".join(piece * count for piece, count in case["parts"])
        for case in json.loads(CORPUS.read_text(encoding="utf-8"))
    ]
    signs = [
        f"{before}{chr(number)}{after}"
        for number in (*SIGNS, 0xD800)
        for before, after in (
            ("<b", ">bold</b>"),
            ("java", "script:window.hacked=11"),
            ('"', "onload='window.hacked=12'"),
        )
    ]
    return [*ATTACKS, *answers, *signs]


def test_every_hostile_text_is_a_text_in_the_table(opened: Open, tmp_path: Path) -> None:
    hostile = texts()
    assert len(hostile) >= 421
    rows = [
        row(
            "graph", f"{number} {text}", "incorrect", model=ATTACK,
            answer=text, target=text, explanation=text, tags=(text,),
        )
        for number, text in enumerate(hostile)
    ]  # fmt: skip
    folder = write_run(tmp_path, [(one, None) for one in rows])
    asked = [
        Question(task="graph", sample=one.sample, question="", text=text)
        for one, text in zip(rows, hostile, strict=True)
    ]
    (folder / SAMPLES).write_text("".join(json.dumps(one.to_json()) + "\n" for one in asked))
    page = opened(write_report(folder)).page
    told, turn = "", page.get_by_role("button", name="Next page")
    while True:
        assert page.evaluate(ACTIVE) == []
        told += page.locator("#table").inner_text()
        if turn.is_disabled():
            break
        turn.click()
    assert page.evaluate("window.hacked") is None
    for number, text in enumerate(hostile):
        assert f"{number} {text[:1] if text[:1].isalnum() else ''}" in told
        if text.isprintable() and clean(text, 60) == text:
            assert told.count(text) >= 4, text  # id, question, target, answer and why
    for number in {*SIGNS, 0xD800} - {ord("\t"), ord("\n")}:
        assert f"U+{number:04X}" in told


def test_names_of_models_and_tasks_are_texts_too(opened: Open, tmp_path: Path) -> None:
    rows = [
        (row(task, "1", "correct", model=attack), None)
        for attack in ATTACKS
        for task in (ATTACKS[0], ATTACKS[5])
    ]
    view = opened(write_report(write_run(tmp_path, rows)))
    page = view.page
    assert page.evaluate(ACTIVE) == []
    heads = page.locator("#table thead").inner_text()
    for attack in ATTACKS:
        assert not attack.isprintable() or attack in heads
    for chosen in (ATTACKS[2], ATTACKS[9]):
        page.get_by_label("Model", exact=True).select_option(chosen)
        assert page.evaluate(ACTIVE) == []
    assert page.evaluate("window.hacked") is None
    page.reload()
    assert page.get_by_label("Model", exact=True).input_value() == ATTACKS[9]
