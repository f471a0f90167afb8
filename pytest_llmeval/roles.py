"""The roles in which models are asked, such as under test, or as judge.

Every pytest session reads roles from its options, so this module imports nothing that is slow.
"""

from __future__ import annotations

import re
from typing import Final

SOLVER: Final = "solver"
"""The role of the models under test."""

JUDGE: Final = "judge"
"""The role of the models that scorers ask, unless a scorer names another one."""

_ROLE: Final = re.compile(r"[a-z][a-z0-9_-]*")


def is_role(name: object) -> bool:
    """Return whether something is the name of a role: small letters, digits, ``_`` and ``-``."""
    return isinstance(name, str) and _ROLE.fullmatch(name) is not None
