"""Which isolation a session uses: the one that it names, or the best that works here."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress

from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.sandbox.containers import Container
from pytest_llmeval.sandbox.isolation import OPTION, Isolation
from pytest_llmeval.sandbox.landlock import landlock_version
from pytest_llmeval.sandbox.run import run_program
from pytest_llmeval.sandbox.system_calls import PROCESSORS


def present_isolations() -> tuple[Isolation, ...]:
    """Return those whose parts are there, the best first, without starting anything.

    A kernel may still refuse them (`find_isolation` tells), but without any there is no way.
    """
    found: list[Isolation] = []
    if sys.platform == "linux":
        if shutil.which("bwrap"):
            found.append("bwrap")
        if os.uname().machine in PROCESSORS:
            with suppress(OSError):
                landlock_version()
                found.append("landlock")
    return tuple(found)


async def find_isolation(chosen: Isolation | None) -> Isolation:
    """Return the isolation to use, after a first program has run in it.

    Args:
        chosen: the one that the user demands; None for the best, which is never ``limits``.

    Raises:
        UsageError: the chosen one does not work here, or none was chosen and only ``limits`` does.
    """
    if chosen and (container := Container.of(chosen)) is not None:
        reason = await container.missing() or await _failure(chosen)
        if reason is not None:
            msg = f"programs that a model writes cannot run in containers: {reason}"
            raise UsageError(msg)
        return chosen
    candidates = (chosen,) if chosen else present_isolations()
    if not candidates:
        raise _none_works(["there is neither bubblewrap nor Landlock (Linux 5.13)"])
    failures = []
    for isolation in candidates:
        failure = await _failure(isolation)
        if failure is None:
            return isolation
        failures.append(failure)
    raise _none_works(failures)


def _none_works(failures: Sequence[str]) -> UsageError:
    return UsageError(
        f"programs that a model writes cannot be isolated here: {'; '.join(failures)}. "
        "Install bubblewrap (on Linux: apt-get install bubblewrap). If you trust the model with "
        "your files and your network, let its programs run without isolation, with limits of time "
        f"and memory alone: --llmeval-{OPTION} limits"
    )


async def _failure(isolation: Isolation) -> str | None:
    """Return why an isolation does not work here; some kernels forbid one or the other."""
    if sys.platform != "linux" and isolation in {"bwrap", "landlock"}:
        return f"{isolation} needs Linux"
    try:
        run = await run_program("print(open('scratch', 'w').write('works'))", isolation=isolation)
    except ToolError as error:
        return str(error)
    return run.problem or (None if run.output == "5\n" else f"{isolation} printed {run.output!r}")
