"""The template of a judge's question: a file with rules and a question, in jinja2.

What stands before the first line ``---`` are the rules, which go into the system message; what
stands behind it is the question. A file without such a line is a question without rules. The
question has ``{{ candidate }}`` once, on a line of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.yaml import read_text
from pytest_llmeval.templates.filling import FillingError, check_syntax
from pytest_llmeval.templates.language import PICTURE, Use, names_used, plain_names

CANDIDATE: Final = "candidate"
"""The variable that stands for the fenced candidate."""

VARIABLES: Final = ("input", "target", "metadata", "tags")
"""The variables of rules and question; the question has CANDIDATE too."""

ALWAYS_THERE: Final = frozenset({"input", "target", "tags", CANDIDATE, PICTURE})
"""Those that have a value whatever the sample is, as all names in a plain template."""

MAX_BYTES: Final = 1_000_000
"""Bytes of a template's file at most."""

_ALONE: Final = f"write {{{{ {CANDIDATE} }}}} once, on a line of its own"
_DIVIDER: Final = "---"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a template: its text, and the line of the file on which it begins."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The rules and the question of a judge.

    Attributes:
        place: the file, or what stands for it in messages.
        rules: what the judge goes by; may be empty.
        question: the case, with ``{{ candidate }}``.
    """

    place: str
    rules: Part
    question: Part

    @classmethod
    def read(cls, file: Path, *, place: str = "") -> Template:
        """Return the template in a file.

        Raises:
            TaskError: the file cannot be read, is no jinja2, uses a name that there is not, or does
                not have the candidate once, alone on a line of the question.
        """
        rules, question = _parts(read_text(file, max_bytes=MAX_BYTES))
        found = cls(place=place or str(file), rules=rules, question=question)
        found._check()
        return found

    @property
    def is_total(self) -> bool:
        """Whether it can be filled for every sample."""
        names = [plain_names(part.text) for part in (self.rules, self.question)]
        return all(one is not None and one <= ALWAYS_THERE for one in names)

    def candidate_error(self, problem: str) -> TaskError:
        """Return the error at the line of the candidate."""
        uses = names_used(self.question.text)
        line = next(use.line for use in uses if use.name == CANDIDATE)
        return self.error(self.question, problem, line)

    def error(self, part: Part, problem: str, line: int = 1) -> TaskError:
        """Return the error at a line, from 1, of a part."""
        return TaskError(problem, file=self.place, line=part.line + line - 1)

    def _check(self) -> None:
        for part in (self.rules, self.question):
            try:
                check_syntax(part.text)
            except FillingError as error:
                raise self.error(part, error.problem, error.line) from None
        for use in names_used(self.rules.text):
            if use.name == CANDIDATE:
                problem = f"the candidate stands in the rules, before the line {_DIVIDER}; {_ALONE}"
                raise self.error(self.rules, f"{problem} behind it", use.line)
            self._check_known(self.rules, use, VARIABLES)
        uses = names_used(self.question.text)
        for use in uses:
            self._check_known(self.question, use, (*VARIABLES, CANDIDATE))
        self._check_candidate([use for use in uses if use.name == CANDIDATE])

    def _check_known(self, part: Part, use: Use, known: tuple[str, ...]) -> None:
        if use.name not in (*known, PICTURE):
            problem = f"{use.name!r} is unknown here (known: {', '.join(known)})"
            raise self.error(part, problem, use.line)

    def _check_candidate(self, uses: list[Use]) -> None:
        if not uses:
            problem = f"asks about no candidate; {_ALONE}"
            raise self.error(self.question, problem)
        if len(uses) > 1:
            lines = " and ".join(str(self.question.line + use.line - 1) for use in uses)
            problem = f"has the candidate {len(uses)} times (lines {lines}); {_ALONE}"
            raise self.error(self.question, problem, uses[1].line)
        if not uses[0].bare:
            problem = f"changes the candidate by a filter or in an expression; {_ALONE}, as it is"
            raise self.error(self.question, problem, uses[0].line)


def misplaced(count: int, *, alone: bool) -> str | None:
    """Return what is wrong with the places of the candidate in a filled question, if anything.

    Args:
        count: how often it is there.
        alone: whether it stands on a line of its own.
    """
    if count == 1 and alone:
        return None
    if count == 1:
        return f"the candidate stands among other text; {_ALONE}"
    found = f"repeats the candidate {count} times" if count else "leaves the candidate out"
    return f"{found}, by a loop or a condition; {_ALONE}, in neither"


def _parts(text: str) -> tuple[Part, Part]:
    """Return rules and question, each without blank lines around it."""
    lines = text.replace("\r\n", "\n").split("\n")
    divider = next((at for at, line in enumerate(lines) if line.rstrip() == _DIVIDER), None)
    if divider is None:
        return Part(text="", line=1), _part(lines, 0)
    return _part(lines[:divider], 0), _part(lines[divider + 1 :], divider + 1)


def _part(lines: list[str], before: int) -> Part:
    blank = next((at for at, line in enumerate(lines) if line.strip()), 0)
    text = "\n".join(lines[blank:]).strip()
    return Part(text=text, line=before + blank + 1)
