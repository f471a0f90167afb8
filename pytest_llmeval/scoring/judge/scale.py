"""A scale: what a judge may reply, how the reply is read, and what several replies amount to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pytest_llmeval.records import Json, Verdict


class Scale(Protocol):
    """What a judge's verdict consists of.

    The scales are `VerdictScale`, `RatingScale`, `LabelScale`, and a `Rubric` of one of the first
    two.
    """

    @property
    def kind(self) -> str:
        """The name of the JSON schema, such as ``rating``."""
        ...

    @property
    def lowest(self) -> float:
        """The lowest value of a score, which an empty answer has."""
        ...

    @property
    def highest(self) -> float:
        """The highest value of a score."""
        ...

    @property
    def properties(self) -> Mapping[str, Json]:
        """The JSON schema of each key of the demanded reply, in its order."""
        ...

    @property
    def options(self) -> Mapping[str, Json]:
        """The options of a task that give this scale."""
        ...

    @property
    def deciding(self) -> Mapping[str, Json]:
        """Those of the options that the judge is not told, and that decide what is correct."""
        ...

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of the criteria that have a value each; () for one verdict."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that a verdict may have; () on a scale without labels."""
        ...

    def form(self, passes: str) -> str:
        """Return the paragraph that tells the judge what to reply.

        Args:
            passes: what is true of a correct answer, such as ``the final answer is equivalent``.
        """
        ...

    def read(self, reply: str) -> Verdict | None:
        """Return the verdict that a reply consists of; None if it is unusable."""
        ...

    def combined(self, verdicts: Sequence[Verdict | None]) -> Verdict | None:
        """Return what several verdicts amount to; None if they decide nothing.

        Args:
            verdicts: all that are wanted, None for one that is lost or not given.
        """
        ...

    def is_settled(self, verdicts: Sequence[Verdict | None], left: int) -> bool:
        """Whether `left` further verdicts can change nothing."""
        ...

    def shortfall(self, value: float | None, label: str | None) -> str:
        """Return what a verdict that is not correct says, in a few words."""
        ...
