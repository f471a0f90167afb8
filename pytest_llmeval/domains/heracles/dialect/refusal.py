"""What Neo4j would say to a query that it rejects."""

from __future__ import annotations


class RefusedError(Exception):
    """Neo4j rejects the query.

    The text is the error as its driver tells it: code, message, place.
    """

    def __init__(
        self, message: str, at: int | None = None, *, code: str = "Statement.SyntaxError"
    ) -> None:
        """Take the message, where in the text it is about (None: it comes up while running), and the error's code."""
        super().__init__(message)
        self.message, self.at, self.code = message, at, code

    def told(self, text: str) -> str:
        """Return the error of the query `text` in one line."""
        message = f"Neo.ClientError.{self.code}: {' '.join(self.message.split())}"
        if self.at is None:
            return message
        line = text.count("\n", 0, self.at) + 1
        column = self.at - (text.rfind("\n", 0, self.at) + 1) + 1
        return f"{message} (line {line}, column {column} (offset: {self.at}))"


class StoppedError(RefusedError):
    """Neo4j stops the query while it runs, at the first row that comes to this.

    `in_result`: it is about a column of the result, so that a result without rows never comes to
    it.
    """

    in_result = False


def type_error(message: str) -> StoppedError:
    """Return the error of a value that turns out to be of the wrong type."""
    return StoppedError(message, code="Statement.TypeError")


def argument_error(message: str) -> StoppedError:
    """Return the error of a value that turns out to lack what is asked of it."""
    return StoppedError(message, code="Statement.ArgumentError")
