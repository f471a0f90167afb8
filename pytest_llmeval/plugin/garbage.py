"""How often Python looks for garbage while samples are evaluated, and among what."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Final

SELDOM: Final = 10_000
"""New objects after which the youngest ones are looked through; Python's default is 700 or 2,000.

A sample leaves some hundred objects behind, which pytest keeps until the session ends. With the
default they are looked through again and again, an eighth of the time of a run.
"""


def collect_seldom() -> Callable[[], None]:
    """Let Python look for garbage less often, and return what sets it back.

    Thresholds that somebody has raised further, or disabled, stay; nor is set back what was changed
    meanwhile. ``gc.collect()`` does what it always does.
    """
    before = gc.get_threshold()
    if not 0 < before[0] < SELDOM:
        return lambda: None
    ours = (SELDOM, *before[1:])
    gc.set_threshold(*ours)

    def set_back() -> None:
        if gc.get_threshold() == ours:
            gc.set_threshold(*before)

    return set_back


def set_aside() -> None:
    """Leave what is alive now out of every later search for garbage, until this is called again.

    That are the objects of modules, 200,000 and more, and of tests, which live to the end of the
    session anyway. pytest and Python look through all objects several times at its end, which took
    a tenth of the CPU time of a run of 200 samples. What is garbage now, such as an earlier session
    in this process, is collected first, with its warnings.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
