"""What is computed for each row of a table, in a form that reaches children and nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Record
from pytest_llmeval.safety.regular_files import read_regular
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.scorer import AskingScorer, PreparingScorer, Scorer, score_names
from pytest_llmeval.task.callables import MAX_CODE_BYTES
from pytest_llmeval.task.declared import MisfitError, make_scorer
from pytest_llmeval.task.spec import Spec


class ScorerSpec(Record, frozen=True, kw_only=True):
    """The name and the options of a scorer, as `Spec`."""

    name: str
    options: Mapping[str, Json] = {}


class Job(Record, frozen=True, kw_only=True):
    """The scorers, the rule that finds the answer in a text, and the limits of one row.

    Attributes:
        scorers: at least one; their scores have different names.
        folder: where the relative paths of functions of the user's own start.
        rule: name of an answer rule; "": the text of the column is the answer.
        cpu_seconds: processor time that the scorers may take for one row.
        wall_seconds: time on the clock likewise. It exceeds the 600 s that a formula may take.
        memory_mb: address space of a scoring child.
    """

    scorers: tuple[ScorerSpec, ...]
    folder: str
    rule: str = ""
    cpu_seconds: int = 60
    wall_seconds: float = 900.0
    memory_mb: int = 2048


def made_scorers(job: Job) -> list[Scorer]:
    """Return the scorers of a job.

    Raises:
        UsageError: one is unknown, has an invalid option, or needs more than an answer and its
            row; or two give scores of the same name.
    """
    scorers, names = [], set[str]()
    for spec in job.scorers:
        try:
            scorer = make_scorer(Spec(name=spec.name, options=spec.options), Path(job.folder))
        except MisfitError as error:
            option = ".".join(map(str, error.place[2:]))
            msg = f"--scorer {spec.name}: {option and f'{option} '}{error.problem}"
            raise UsageError(msg) from None
        _check_alone(spec.name, scorer)
        for name in score_names(scorer):
            if name in names:
                msg = (
                    f"--scorer {spec.name}: there are two scores called {name!r}; "
                    "give one another `name`, as in '{exact: {name: strict}}'"
                )
                raise UsageError(msg)
            names.add(name)
        scorers.append(scorer)
    return scorers


def graders(job: Job) -> dict[str, str]:
    """Return by the name of each scorer what grades: its rules, its options, and own code.

    Equal graders give equal scores for equal rows.
    """
    found = {}
    for spec, scorer in zip(job.scorers, made_scorers(job), strict=True):
        text = grader_text(scorer, declared=spec.options)
        found[scorer.name] = f"{text}{_code(spec.name, Path(job.folder))}"
    if job.rule:
        found["answer"] = f"{job.rule}{_code(job.rule, Path(job.folder))}"
    return found


def _check_alone(name: str, scorer: Scorer) -> None:
    """Raise UsageError for a scorer that needs models, a sandbox or a transcript."""
    if isinstance(scorer, AskingScorer):
        why = "it asks a model about each answer"
    elif isinstance(scorer, PreparingScorer):
        why = "it works on a sample of a run, in a sandbox or on a transcript, before it scores"
    else:
        return
    msg = (
        f"--scorer {name}: {why}, and bulk scoring has answers and targets alone; "
        "score in a run of pytest, or `llmeval rescore RUN`"
    )
    raise UsageError(msg)


def _code(reference: str, folder: Path) -> str:
    """Return the digest of the file that a reference ``./file.py:name`` names; "" for others."""
    where, _, name = reference.rpartition(":")
    if not (name and where.endswith(".py")):
        return ""
    code = read_regular(folder / where, max_bytes=MAX_CODE_BYTES)
    return f" sha256:{hashlib.sha256(code).hexdigest()[:16]}"
