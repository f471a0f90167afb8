"""Names of models in graders and rows: those of one name are the same model, asked alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import Role, Transcript
from pytest_llmeval.roles import JUDGE, SOLVER
from pytest_llmeval.safety.regular_files import open_regular, regular_lines
from pytest_llmeval.scoring.scorer import PreparingScorer, role_of


def judge_names(
    choice: ModelChoice, test: PlannedTest | None, scorer: PreparingScorer
) -> tuple[str, ...]:
    """Return the names of the models that a scorer may ask about a test's answer.

    Raises:
        UsageError: a spec is invalid.
    """
    return named(choice.of_scorer(scorer, test), role_of(scorer))


def partner_names(
    choice: ModelChoice, test: PlannedTest, transcript: Transcript
) -> dict[Role, str]:
    """Return the names of the models that a solver asked beside the one under test, by role."""
    return {role: named((choice.of_solver(role, test),), role)[0] for role in transcript.partners}


def named(judges: Sequence[ModelSpec], role: Role = JUDGE) -> tuple[str, ...]:
    """Return the name of each model of a role: provider, model, address, and settings.

    Settings stand in alphabetical order. The run's seed, limits, and the variable of the key are
    not in it. A recording has the name of the models that were recorded in the role.
    """
    return tuple(_name(judge, role) for judge in judges)


def _name(judge: ModelSpec, role: Role) -> str:
    settings = "".join(
        f",{name}={json.dumps(value, sort_keys=True, separators=(',', ':'))}"
        for name, value in sorted(judge.parameters.items())
    )
    model = _recorded(Path(judge.name), role) if judge.recorded else f"{judge.text}{judge.route}"
    return f"{model}{settings}"


class _Line(msgspec.Struct):
    """The part of a recording's line that says who replied."""

    model: str = ""
    role: str = SOLVER


def _recorded(file: Path, role: Role) -> str:
    """Return the models of a role in a recording.

    Where no line has the role, as in older recordings, they are the models under test; without any
    the file's name and digest.
    """
    state = file.stat() if file.is_file() else None
    return _models_in(file, None if state is None else (state.st_mtime_ns, state.st_size), role)


@cache
def _models_in(file: Path, state: tuple[int, int] | None, role: Role) -> str:
    """Return `_recorded` of a file in one state, which is read once."""
    if state is None:
        return f"replay/{file.name}"
    replied: dict[Role, set[str]] = {}
    digest = hashlib.sha256()
    with open_regular(file) as stream:
        for text in regular_lines(stream, file):
            digest.update(text)
            try:
                line = msgspec.json.decode(text, type=_Line)
            except msgspec.DecodeError:  # told by whoever reads the replies
                continue
            if line.model:
                replied.setdefault(line.role, set()).add(line.model)
    names = replied.get(role) or replied.get(SOLVER, set())
    return "|".join(sorted(names)) or f"replay/{file.name}#{digest.hexdigest()[:8]}"
