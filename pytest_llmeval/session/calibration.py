"""What ``llmeval calibrate`` does."""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

from pytest_llmeval.commands.console import say
from pytest_llmeval.engine.specs import ModelSpec, parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.records import Json
from pytest_llmeval.report.numbers import interval, percent, score
from pytest_llmeval.scoring.judge import JUDGE_PROMPT_VERSION, PREFILTER_VERSION, JudgedCase
from pytest_llmeval.scoring.judge.judgement import panel_name
from pytest_llmeval.session.calibrating import Found, decide_cases, judge_cases, judged
from pytest_llmeval.session.calibrations import (
    LabelledCase,
    figures,
    figures_by_kind,
    read_cases,
    store,
)
from pytest_llmeval.session.composition import open_models
from pytest_llmeval.session.settings import Settings


def calibrate(chosen: argparse.Namespace) -> None:
    """Do what the command was told."""
    settings = _settings(chosen)
    judges = _judges(settings)
    cases = read_cases(chosen.cases)
    prefilter = _prefilter_facts(decide_cases(cases))
    say(_prefilter_line(prefilter, len(cases)))
    if judges:
        _calibrate(chosen, settings, judges, cases, prefilter)
    else:
        say("no judge was measured: name one by --judge SPEC, such as openai/gpt-5.1")


def _settings(chosen: argparse.Namespace) -> Settings:
    return Settings(
        judges=tuple(dict.fromkeys(chosen.judge)),
        base_url=chosen.base_url,
        concurrency=chosen.concurrency,
        rpm=chosen.rpm,
        tpm=chosen.tpm,
        timeout=chosen.timeout,
        budget=chosen.budget,
        prices=chosen.prices,
        cache=chosen.cache,
        record=chosen.record,
        folder=str(Path.cwd()),
    )


def _judges(settings: Settings) -> tuple[ModelSpec, ...]:
    if settings.record and len(settings.judges) > 1:
        message = "--record takes one --judge: a recording answers a request whoever is asked"
        raise UsageError(message)
    return tuple(parse_spec(text, folder=Path(settings.folder)) for text in settings.judges)


def _calibrate(
    chosen: argparse.Namespace,
    settings: Settings,
    judges: Sequence[ModelSpec],
    cases: Sequence[LabelledCase],
    prefilter: dict[str, Json],
) -> None:
    """Ask the judges, and keep and tell what each was found to be worth, and all together if there are several."""
    found = _asked(settings, judges, cases, chosen.votes)
    labels = [judge.label for judge in judges]
    source: dict[str, Json] = {
        "made": datetime.now(UTC).date().isoformat(),
        "models": [*sorted({model for one in found for model in one.models if model})],
        "cases": {
            "file": chosen.cases.name,
            "sha256": hashlib.sha256(chosen.cases.read_bytes()).hexdigest(),
        },
    }
    for judge in dict.fromkeys([*labels, panel_name(labels)]):
        facts = _facts(found, judge)
        file = store(
            chosen.out,
            judge,
            JUDGE_PROMPT_VERSION,
            chosen.votes,
            {**source, **facts, "prefilter": prefilter},
        )
        say("\n" + "\n".join(_lines(judge, facts)))
        say(f"kept in {file}")


def _asked(
    settings: Settings, judges: Sequence[ModelSpec], cases: Sequence[LabelledCase], votes: int
) -> Sequence[Found]:
    with tempfile.TemporaryDirectory(prefix="llmeval-") as name:
        folder = Path(name)
        opened = partial(
            open_models, settings, folder, ImageFolder(folder / "images"), started=time.time()
        )
        return judge_cases(cases, judges, opened, votes=votes)


def _facts(found: Sequence[Found], judge: str) -> dict[str, Json]:
    """Return a judge's figures, and every case in which it differs from the label."""
    cases = [judged(one, judge) for one in found]
    differing: list[Json] = [
        {
            "id": one.case.id,
            "equivalent": one.case.equivalent,
            "verdict": opinion.equivalent,
            "reason": opinion.reason,
        }
        for one in found
        if (opinion := one.by(judge)).equivalent is not one.case.equivalent
    ]
    return {"all": figures(cases), "kinds": figures_by_kind(cases), "differing": differing}


def _prefilter_facts(decided: Sequence[JudgedCase]) -> dict[str, Json]:
    verdicts = [(case.label, case.verdict) for case in decided if case.verdict is not None]
    wrong = sum(label is not verdict for label, verdict in verdicts)
    return {"version": PREFILTER_VERSION, "decided": len(verdicts), "wrong": wrong}


def _prefilter_line(facts: dict[str, Json], n: int) -> str:
    decided = cast("int", facts["decided"])
    return (
        f"{facts['version']} decides {decided} of {n} cases without a judge ({decided / n:.0%}), "
        f"{facts['wrong']} of them wrongly"
    )


def _lines(judge: str, facts: dict[str, Json]) -> list[str]:
    """Return a table: all cases, and those of each kind."""
    kinds = cast("dict[str, dict[str, Json]]", facts["kinds"])
    table: list[tuple[str, ...]] = [
        (
            "",
            "cases",
            "unscored",
            "accuracy",
            "95 %",
            "let pass",
            "95 %",
            "refused",
            "kappa",
            "95 %",
        )
    ]
    table += [
        _row(name, found)
        for name, found in {"all": cast("dict[str, Json]", facts["all"]), **kinds}.items()
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rows = [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in table
    ]
    return [f"{judge}: verdicts against labels; wrong answers let pass, right ones refused", *rows]


def _row(name: str, found: dict[str, Json]) -> tuple[str, ...]:
    def number(key: str) -> float | None:
        return cast("float | None", found[key])

    def spread(key: str, scale: float) -> str:
        low, high = cast("list[float | None]", found[key])
        return interval(
            None if low is None else low * scale, None if high is None else high * scale, scale
        )

    return (
        name,
        f"{found['n']}",
        f"{found['unscored']}",
        percent(number("accuracy")),
        spread("accuracy_95", 100),
        f"{found['false_positives']}",
        spread("false_positive_rate_95", 100),
        f"{found['false_negatives']}",
        score(number("kappa"), 1),
        spread("kappa_95", 1),
    )
