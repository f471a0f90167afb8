"""Changes to a text, collected while it is read and made all at once."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_llmeval.domains.heracles.dialect.syntax import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    start: int
    end: int
    text: str
    rank: int


class Edits:
    """Insertions and replacements in one text, by character."""

    def __init__(self, text: str) -> None:
        """Begin with no change to `text`."""
        self._text = text
        self._edits: list[_Edit] = []

    def insert(self, at: int, text: str) -> None:
        """Put `text` before the character `at`, behind what was put there earlier."""
        self._add(at, at, text, len(self._edits))

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in the place of the characters from `start` up to `end`."""
        self._add(start, end, text, len(self._edits))

    def wrap(self, part: Part, before: str, after: str) -> None:
        """Put something around a part; what is wrapped first ends outermost."""
        self._add(part.start, part.start, before, len(self._edits))
        # A part that ends where its last inner one does closes after it.
        self._add(part.end, part.end, after, -len(self._edits))

    def applied(self) -> str | None:
        """Return the changed text; None when two changes want the same characters."""
        result, at = [], 0
        for edit in sorted(
            self._edits, key=lambda edit: (edit.start, edit.end > edit.start, edit.rank)
        ):
            if edit.start < at:
                return None
            result += [self._text[at : edit.start], edit.text]
            at = edit.end
        return "".join([*result, self._text[at:]])

    def _add(self, start: int, end: int, text: str, rank: int) -> None:
        self._edits.append(_Edit(start=start, end=end, text=text, rank=rank))
