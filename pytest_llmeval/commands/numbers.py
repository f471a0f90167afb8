"""Numbers as values of commands' options."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """Return a whole number that is 1 or more; argparse tells any other text."""
    number = int(text)
    if number < 1:
        message = "must be 1 or more"
        raise argparse.ArgumentTypeError(message)
    return number
