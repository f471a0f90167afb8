"""The tool of the canary task, which returns a fixed, arbitrary number for each place."""

from typing import Annotated, Literal

from pydantic import Field

NUMBERS = {"harbour": 4127, "kitchen": 386, "garden": 59}


def ask(
    question: Annotated[str, Field(description="What is asked, in plain words.")],
    place: Annotated[
        Literal["harbour", "kitchen", "garden"], Field(description="The place it is about.")
    ],
) -> int:
    """Ask the oracle how many of something there are. It answers with a number."""
    del question  # the oracle knows one thing of each place
    return NUMBERS[place]
