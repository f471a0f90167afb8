"""Values of ``--llmeval-model``: specs of models under test, and ``ROLE=SPEC`` of other roles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.roles import SOLVER, is_role

_NAMED: Final = re.compile(r"([^=/,:]*)=(.*)", re.DOTALL)
"""A role before the first ``=``. In a spec, which may hold some too, a ``/`` stands before it."""


def specs_by_role(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the specs by role, those without one as ``solver``.

    Example: ``openai/a,temperature=0`` and ``user=openai/b`` are
    ``{"solver": ["openai/a,temperature=0"], "user": ["openai/b"]}``.

    Raises:
        UsageError: a role is none that can be named here.
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        role, spec = _split(text)
        found.setdefault(role, []).append(spec)
    return found


def _split(text: str) -> tuple[str, str]:
    named = _NAMED.fullmatch(text)
    if named is None:
        return SOLVER, text
    role, spec = named.groups()
    # The spec is not shown: by mistake it may hold a key.
    if role == SOLVER:
        msg = f"--llmeval-model {role}=...: a model under test has no role; write the spec alone"
        raise UsageError(msg)
    if not is_role(role):
        msg = (
            f"--llmeval-model {role}=...: {role!r} is no role; a role is a word of small letters, "
            "digits, _ and - that begins with a letter, as in judge=openai/gpt-5.1-mini"
        )
        raise UsageError(msg)
    return role, spec
