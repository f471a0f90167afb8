"""Which run ``--llmeval-resume`` or ``--llmeval-replay-run`` means."""

from __future__ import annotations

from pathlib import Path

from pytest_llmeval.errors import UsageError
from pytest_llmeval.results.store import LATEST, StoredRun, read_run


def find_stored(option: str, name: str, *, folder: Path, reports: str | None) -> StoredRun:
    """Return the run called `name`: a path from `folder`, or a run's name in `reports`, or ``latest`` there.

    UsageError names the `option` and the run that does not exist.
    """
    place = folder / name
    if reports is not None and not place.exists():
        place = Path(reports) / name
    elif name == LATEST and not place.exists():
        msg = f"{option}: name the run's folder, or the folder of runs with --llmeval-report DIR"
        raise UsageError(msg)
    try:
        return read_run(place)
    except UsageError as error:
        msg = f"{option} {name}: {error}"
        raise UsageError(msg) from error
