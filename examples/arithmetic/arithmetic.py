"""The tools of the example: calculations that a model had better not do in its head."""

from typing import Annotated

from pydantic import Field

from pytest_llmeval import CallError


def multiply(numbers: Annotated[list[float], Field(min_length=2)]) -> float:
    """Multiply two or more numbers."""
    product = 1.0
    for number in numbers:
        product *= number
    return product


async def divide(dividend: float, divisor: float, *, digits: int = 6) -> float:
    """Divide one number by another."""
    if divisor == 0:
        msg = "nothing can be divided by 0"
        raise CallError(msg)
    return round(dividend / divisor, digits)
