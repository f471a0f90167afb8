"""Under what two parts were made: graders, data, prompt, models, engines, age of replies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_llmeval.records import Row
from pytest_llmeval.results.entry_key import ABSENT, version_texts
from pytest_llmeval.results.graders import GRADER, graders_of
from pytest_llmeval.results.regrading import UNGRADED
from pytest_llmeval.results.targets import target_digest

UNKNOWN: Final = "not known"
"""In place of what a baseline's file, or a run of an earlier version, does not tell."""

_NAMES: Final = {"task": "version of the task"}
"""What versions are called, where their own name is not enough."""

Likeness: TypeAlias = Literal["same", "differs", "not known"]


class Condition(NamedTuple):
    """One thing about how a part was made, as text, in a and in b."""

    name: str
    a: str
    b: str

    @property
    def likeness(self) -> Likeness:
        """Whether it is the same in both; not known where one of them does not tell."""
        if UNKNOWN in {self.a, self.b}:
            return "not known"
        return "same" if self.a == self.b else "differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonSamples:
    """The samples of two parts by their ids, whatever became of them.

    Attributes:
        both: number of ids in both.
        only_a: number of ids in a alone.
        only_b: number of ids in b alone.
        asked_otherwise: ids in both whose input, choices or pictures differ.
        unknown: number of ids in both of which a run does not tell what was asked.
        retargeted: ids in both whose target differs.
    """

    both: int
    only_a: int
    only_b: int
    asked_otherwise: tuple[str, ...]
    unknown: int
    retargeted: tuple[str, ...]


def conditions(a: Sequence[Row], b: Sequence[Row]) -> tuple[Condition, ...]:
    """Return under what two parts of runs were made; neither is empty.

    Graders first, then data, prompt and settings, models, engines, and where replies came from.
    """
    versions = [_versions(rows) for rows in (a, b)]
    graders = [_graders(rows) for rows in (a, b)]
    return (
        *_pairs(graders, "grader of ", UNGRADED),
        *_pairs(versions, "", ABSENT),
        Condition("model", a[0].model, b[0].model),
        Condition("replies", _replies(a), _replies(b)),
        Condition("epochs", _epochs(a), _epochs(b)),
    )


def common_samples(a: Sequence[Row], b: Sequence[Row]) -> CommonSamples:
    """Return which samples two parts of runs have in common."""
    questions = [_by_sample(rows, [row.question for row in rows]) for rows in (a, b)]
    targets = [
        _by_sample(rows, [target_digest(row.dataset_target) for row in rows]) for rows in (a, b)
    ]
    both = [sample for sample in questions[0] if sample in questions[1]]
    known = [sample for sample in both if all("" not in of[sample] for of in questions)]
    return CommonSamples(
        both=len(both),
        only_a=len(questions[0]) - len(both),
        only_b=len(questions[1]) - len(both),
        asked_otherwise=tuple(s for s in known if questions[0][s] != questions[1][s]),
        unknown=len(both) - len(known),
        retargeted=tuple(s for s in both if targets[0][s] != targets[1][s]),
    )


def _by_sample(rows: Sequence[Row], values: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for row, value in zip(rows, values, strict=True):
        found[row.sample].add(value)
    return found


def _pairs(sides: Sequence[dict[str, str]], prefix: str, absent: str) -> Iterator[Condition]:
    a, b = sides
    for name in sorted({*a, *b}):
        yield Condition(f"{prefix}{name}", a.get(name, absent), b.get(name, absent))


def _versions(rows: Sequence[Row]) -> dict[str, str]:
    """Return all versions but those of graders, which scores name more exactly; engines too."""
    return {
        _NAMES.get(name, name): text
        for name, text in version_texts(rows).items()
        if not name.startswith(GRADER)
    }


def _graders(rows: Sequence[Row]) -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name, text in graders_of(row).items():
            found[name].add(text or UNGRADED)
    return {name: " and ".join(sorted(texts)) for name, texts in found.items()}


def _replies(rows: Sequence[Row]) -> str:
    """Return how many rows were answered by recorded or cached replies, and how old those are."""
    if not _is_known(rows):
        return UNKNOWN
    answered = [row for row in rows if row.outcome != "not run"]
    recorded, cached = (
        sum(row.recorded for row in answered),
        [row for row in answered if row.cached and not row.recorded],
    )
    parts = [f"recorded: {recorded:,} of {len(answered):,}"] if recorded else []
    if cached:
        parts.append(f"from a cache: {len(cached):,} of {len(answered):,}")
    return ", ".join(parts) or "asked for in this run"


def _epochs(rows: Sequence[Row]) -> str:
    return f"{max(row.epoch for row in rows):,}"


def _is_known(rows: Sequence[Row]) -> bool:
    """Whether the rows are those of a run; a baseline's file does not know of replies."""
    return any(row.nodeid for row in rows)
