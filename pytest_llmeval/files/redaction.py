"""Keys never reach a file: the values of secret environment variables, and how they are blotted out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_llmeval.records import Json

MIN_LENGTH = 8
"""Shorter values are no keys, and blotting out ``1`` or ``test`` everywhere would spoil the
records."""

_SECRET_WORDS = frozenset(
    {"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS"}
)
_USER_INFO = re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")


def is_secret_name(variable: str) -> bool:
    """Tell whether one word of a variable's name says secret (``OPENAI_API_KEY`` does, ``MAX_TOKENS`` does not)."""
    return not _SECRET_WORDS.isdisjoint(variable.upper().split("_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Redactor:
    """Replaces secret values by the name of their variable, and passwords in URLs, wherever they stand in a text.

    It replaces rather than refuses: a model may repeat a key from its prompt, and that must not
    lose the row.
    """

    secrets: Mapping[str, str]

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Redactor:
        """Take every variable whose name says secret."""
        found = {
            value: name
            for name, value in environment.items()
            if len(value) >= MIN_LENGTH and is_secret_name(name)
        }
        # Longest first: one key may be the beginning of another.
        return cls(secrets=dict(sorted(found.items(), key=lambda pair: -len(pair[0]))))

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        for value, name in self.secrets.items():
            if value in text:
                text = text.replace(value, f"[{name}]")
        return _USER_INFO.sub("[credentials]", text) if "://" in text else text

    def json(self, value: Json) -> Json:
        """Return a JSON value without secrets in its strings and keys (numbers are left: no key is one)."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.json(item) for key, item in value.items()}
        return value
