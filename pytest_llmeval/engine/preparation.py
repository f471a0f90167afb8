"""What the scorers of one sample prepared for its answer, as far as they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Completion, Json
from pytest_llmeval.records.error_json import error_to_json
from pytest_llmeval.scoring.scorer import PreparingScorer


class Preparation:
    """What the scorers of one sample prepared, or how they failed.

    However it ends, the completion is whole: an answer is paid before a judge is asked about it.
    """

    def __init__(
        self, scorers: Sequence[PreparingScorer], judges: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Begin with nothing prepared.

        Args:
            scorers: the scorers to prepare.
            judges: names of the models that each scorer may ask, by the scorer's name.
        """
        self._scorers, self._judges = scorers, judges
        self._prepared: dict[str, Json] = {}
        self._failed: dict[str, Json] = {}

    @property
    def open(self) -> tuple[PreparingScorer, ...]:
        """The scorers that neither prepared anything nor failed."""
        over = self._prepared.keys() | self._failed.keys()
        return tuple(scorer for scorer in self._scorers if scorer.name not in over)

    def done(self, scorer: PreparingScorer, prepared: Json) -> None:
        """Note what a scorer prepared."""
        self._prepared[scorer.name] = prepared

    def failed(self, scorer: PreparingScorer, error: LLMEvalError) -> None:
        """Note how a scorer failed."""
        self._failed[scorer.name] = error_to_json(error)

    def end(self, error: LLMEvalError) -> None:
        """Note for all open scorers why they are not prepared."""
        for scorer in self.open:
            self.failed(scorer, error)

    def solved(self, completion: Completion) -> Solved:
        """Return the engine's result for the sample."""
        return Solved(
            completion=completion,
            prepared=self._prepared,
            failed=self._failed,
            judges=self._judges,
        )
