"""Names of judges in graders: two judges have one name if they are the same model, asked alike."""

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
from pytest_llmeval.safety.regular_files import open_regular, regular_lines
from pytest_llmeval.scoring.scorer import AskingScorer


def judge_names(
    choice: ModelChoice, test: PlannedTest | None, scorer: AskingScorer
) -> tuple[str, ...]:
    """Return the names of the models that a scorer may ask about a test's answer.

    Raises:
        UsageError: a spec is invalid.
    """
    return named(choice.judges(test, scorer.models))


def named(judges: Sequence[ModelSpec]) -> tuple[str, ...]:
    """Return the name of each judge: provider, model, address, and settings of its requests.

    Settings stand in alphabetical order. The run's seed, limits, and the variable of the key are
    not in it. A recording has the name of the judges that were recorded.
    """
    return tuple(map(_name, judges))


def _name(judge: ModelSpec) -> str:
    settings = "".join(
        f",{name}={json.dumps(value, sort_keys=True, separators=(',', ':'))}"
        for name, value in sorted(judge.parameters.items())
    )
    model = _recorded(Path(judge.name)) if judge.recorded else f"{judge.text}{judge.route}"
    return f"{model}{settings}"


class _Line(msgspec.Struct):
    """The part of a recording's line that says who replied."""

    model: str = ""
    role: str = "solver"


def _recorded(file: Path) -> str:
    """Return the judges in a recording.

    Where no line has the role of a judge, as in older recordings, it is all models that replied;
    without any the file's name and digest.
    """
    state = file.stat() if file.is_file() else None
    return _judges_in(file, None if state is None else (state.st_mtime_ns, state.st_size))


@cache
def _judges_in(file: Path, state: tuple[int, int] | None) -> str:
    """Return `_recorded` of a file in one state, which is read once."""
    if state is None:
        return f"replay/{file.name}"
    replied: dict[str, set[str]] = {"judge": set(), "solver": set()}
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
    names = replied["judge"] or replied["solver"]
    return "|".join(sorted(names)) or f"replay/{file.name}#{digest.hexdigest()[:8]}"
