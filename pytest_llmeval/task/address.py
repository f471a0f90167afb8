"""The address of a task: its file, and in brackets the variant that is meant, if it has some."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_-]*"
"""The pattern of the name of a task or a variant."""

_ADDRESS: Final = re.compile(rf"(?P<file>.+\.ya?ml)\[(?P<variant>{NAME})\]")


def parse_address(address: Path) -> tuple[Path, str | None]:
    """Return file and variant of an address such as ``tasks/sums.yaml[terse]``."""
    found = _ADDRESS.fullmatch(address.name)
    return (address, None) if found is None else (address.parent / found["file"], found["variant"])


def address_of(file: Path, variant: str) -> Path:
    """Return the address of a variant."""
    return file.parent / variant_name(file.name, variant)


def variant_name(task: str, variant: str) -> str:
    """Return the name of a task's variant, such as ``sums[terse]``."""
    return f"{task}[{variant}]"
