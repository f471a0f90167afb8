"""The words of a query, comparable: two parts are alike if they differ in spaces and comments only."""

from __future__ import annotations

from bisect import bisect_left

from pytest_llmeval.domains.heracles.dialect.syntax import Item, Part, Variable
from pytest_llmeval.domains.heracles.tokens import read_tokens


class Wording:
    """The text of a query and the words of its parts."""

    def __init__(self, text: str) -> None:
        """Take the text that was parsed."""
        self.text = text
        tokens = read_tokens(text)
        self._starts = [token.start for token in tokens]
        self._words = [f"{token.kind[0]}{token.text}" for token in tokens]

    def __getitem__(self, part: Part) -> str:
        """Return a part as it is written."""
        return self.text[part.start : part.end]

    def column(self, item: Item) -> str:
        """Return what a column is called."""
        named = item.alias or item.expression
        return named.name if isinstance(named, Variable) else self[item]

    def normal(self, part: Part) -> str:
        """Return a part in the form in which it can be compared."""
        return " ".join(
            self._words[bisect_left(self._starts, part.start) : bisect_left(self._starts, part.end)]
        )


def normal_name(name: str) -> str:
    """Return the comparable form of a variable's plain name."""
    return f"w{name}"
