"""The batches of a session: where they are written down, and the line about open ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from pytest_llmeval.engine.batches.batches import Batches
from pytest_llmeval.engine.batches.gauge import BatchGauge
from pytest_llmeval.engine.batches.journal import BatchJournal, has_batches
from pytest_llmeval.engine.batches.settings import BATCH, batch_settings_of
from pytest_llmeval.engine.replies.place import KEEP, Place
from pytest_llmeval.engine.replies.store import REPLIES
from pytest_llmeval.session.settings import Settings


def sends_batches(settings: Settings) -> bool:
    """Return whether requests go into batches; not where stored replies alone are used."""
    return batch_settings_of(settings.batch or "off") is not None


def opened_batches(
    settings: Settings,
    folder: Path,
    reused: Place | None,
    kept: Place | None,
    tell: Callable[[str], None],
) -> Batches | None:
    """Return the batches of a run; None if it sends none.

    They are written down beside the run's replies, and in the folder where replies are kept.
    Batches that another run left in that folder, or where replies are taken from, are gone on with.

    Args:
        settings: the session's settings.
        folder: the folder of the run's replies, whose store exists.
        reused: where stored replies are taken from.
        kept: where replies are kept, whose store exists.
        tell: shows a line to the user.

    Raises:
        UsageError: batches cannot be written down.
    """
    how = batch_settings_of(settings.batch or "off")
    if how is None or (reused is not None and reused.only):
        return None
    with ExitStack() as on_failure:

        def journal(place: Path, *copies: BatchJournal) -> BatchJournal:
            opened = BatchJournal(place / REPLIES, copies=copies)
            on_failure.callback(opened.close)
            return opened

        copies = [] if kept is None or kept.is_recording else [journal(kept.path)]
        own = journal(folder, *copies)
        reads = reused is not None and not reused.is_recording
        elsewhere = reused is not None and (kept is None or kept.path != reused.path)
        others = []
        if reused is not None and reads and elsewhere and has_batches(reused.path / REPLIES):
            others.append(journal(reused.path))
        batches = Batches(own, how, others=[*copies, *others], tell=tell)
        on_failure.pop_all()
    return batches


def batch_remarks(gauge: BatchGauge | None, run: Path | None, kept: str | None) -> list[str]:
    """Return a line about the batches that the session leaves with providers, if it leaves some.

    Args:
        gauge: how far the batches are.
        run: the run's folder; None without one.
        kept: the value of ``--llmeval-keep``.
    """
    if gauge is None or not gauge.open:
        return []
    number = "1 batch goes" if gauge.open == 1 else f"{gauge.open:,} batches go"
    if run is not None:
        how = f"the same command with --llmeval-resume={run.name} goes on with what they bring"
    elif kept is not None:
        place = kept.partition(",")[0]
        how = f"the same command with {KEEP} {place} --llmeval-reuse {place} goes on with them"
    else:
        how = (
            "nothing remembers them, as neither a report folder (--llmeval-report) nor a folder of "
            f"replies ({KEEP}) was named"
        )
    return [f"{BATCH}: {number} on at the provider; {how}"]
