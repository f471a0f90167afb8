"""How often a judge's verdicts agree with labels, by label."""

from __future__ import annotations

from pytest_llmeval.records import Record


class Confusion(Record, frozen=True, kw_only=True):
    """Labelled answers with a verdict, by label and verdict (a confusion matrix).

    Attributes:
        true_positives: correct answers judged correct.
        false_negatives: correct answers judged incorrect.
        true_negatives: incorrect answers judged incorrect.
        false_positives: incorrect answers judged correct.
    """

    true_positives: int
    false_negatives: int
    true_negatives: int
    false_positives: int

    @property
    def correct(self) -> int:
        """The number of answers that are correct by their label."""
        return self.true_positives + self.false_negatives

    @property
    def incorrect(self) -> int:
        """The number of answers that are incorrect by their label."""
        return self.true_negatives + self.false_positives

    @property
    def n(self) -> int:
        """The number of all answers."""
        return self.correct + self.incorrect

    @property
    def unfit(self) -> str:
        """Why no accuracy can be corrected by these numbers; "" if it can."""
        for label, n in (("correct", self.correct), ("incorrect", self.incorrect)):
            if not n:
                return f"no case labelled {label} has a verdict"
        sensitivity = self.true_positives / self.correct
        specificity = self.true_negatives / self.incorrect
        if sensitivity + specificity <= 1:
            return (
                f"sensitivity {sensitivity:.3g} and specificity {specificity:.3g} add up to 1 or "
                "less, so its verdicts do not follow the labels"
            )
        if Rates.adjusted(self).youden <= 0:
            return f"{self.n:,} labelled cases cannot show that its verdicts follow the labels"
        return ""


class Rates(Record, frozen=True, kw_only=True):
    """How often a judge finds correct answers correct, and incorrect ones incorrect; 0..1.

    `correct` and `incorrect` are the numbers of labelled answers that this rests on.
    """

    sensitivity: float
    specificity: float
    correct: int
    incorrect: int

    @classmethod
    def seen(cls, found: Confusion) -> Rates:
        """Return the shares seen; both labels occur."""
        return cls(
            sensitivity=found.true_positives / found.correct,
            specificity=found.true_negatives / found.incorrect,
            correct=found.correct,
            incorrect=found.incorrect,
        )

    @classmethod
    def adjusted(cls, found: Confusion) -> Rates:
        """Return the shares after one right and one wrong verdict more for each label.

        So a rate seen as 1 still has a variance (Agresti and Caffo 2000; Lang and Reiczigel 2014).
        """
        return cls(
            sensitivity=(found.true_positives + 1) / (found.correct + 2),
            specificity=(found.true_negatives + 1) / (found.incorrect + 2),
            correct=found.correct + 2,
            incorrect=found.incorrect + 2,
        )

    @property
    def youden(self) -> float:
        """Sensitivity + specificity - 1 (Youden 1950): 1 for no error, 0 for mere chance."""
        return self.sensitivity + self.specificity - 1

    def estimate(self, verdict: float) -> float:
        """Return what one verdict (1: correct, 0) says of its answer: its mean is the accuracy.

        Rogan and Gladen (1978). It leaves 0..1 where the judge errs.
        """
        return (verdict + self.specificity - 1) / self.youden
