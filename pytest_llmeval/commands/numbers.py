"""Numbers as values of commands' options."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """Return the whole number in `text`, which must be 1 or more; an argparse type."""
    number = int(text)
    if number < 1:
        message = "must be 1 or more"
        raise argparse.ArgumentTypeError(message)
    return number
