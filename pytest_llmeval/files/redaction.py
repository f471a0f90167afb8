"""Redaction: keys are removed from all written text, by their value and by their shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_llmeval.records import Json
from pytest_llmeval.safety.keys import may_hold_key, without_keys

MIN_LENGTH = 8
"""Fewest characters of a value that is redacted: a shorter one, such as ``1`` or ``test``, is not
a key, and would be redacted in ordinary text."""

_SECRET_WORDS = frozenset(
    {"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS"}
)

_LONG = 16
"""Characters from which a value is a key even if it has letters only; a shorter one is a word."""


def is_secret_name(variable: str) -> bool:
    """Return whether a variable's name marks its value as secret, by one of its words.

    ``OPENAI_API_KEY`` does, ``MAX_TOKENS`` does not.
    """
    return not _SECRET_WORDS.isdisjoint(variable.upper().split("_"))


@dataclass(frozen=True, kw_only=True)
class Redactor:
    """Replaces secret values by ``[NAME]`` of their variable, and keys of a known shape.

    It does not raise: a model may repeat a key from its prompt, and the row is still kept.

    Attributes:
        secrets: the names of variables by their values, longest value first.
    """

    secrets: Mapping[str, str]

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Redactor:
        """Return a redactor of the variables whose names mark them as secret."""
        found = {
            value: name
            for name, value in environment.items()
            if len(value) >= MIN_LENGTH and is_secret_name(name)
        }
        # Longest first: one key may be a prefix of another.
        return cls(secrets=dict(sorted(found.items(), key=lambda pair: -len(pair[0]))))

    @classmethod
    def of_keys(cls, environment: Mapping[str, str]) -> Redactor:
        """Return a redactor of those values that no model writes by chance.

        It is for replies that are stored and scored again: a password that is a word, such as
        ``postgres``, may be part of an answer.
        """
        every = cls.of(environment).secrets
        return cls(
            secrets={
                value: name
                for value, name in every.items()
                if len(value) >= _LONG or not value.isalpha()
            }
        )

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        for value, name in self.secrets.items():
            if value in text:
                text = text.replace(value, f"[{name}]")
        return without_keys(text)

    def may_change(self, line: str) -> bool:
        """Return whether ASCII JSON has anything that might be replaced in its texts; fast."""
        return may_hold_key(line) or any(value in line for value in self._in_json)

    @cached_property
    def _in_json(self) -> tuple[str, ...]:
        """The secrets as they stand in ASCII JSON."""
        return tuple(json.dumps(value)[1:-1] for value in self.secrets)

    def json(self, value: Json) -> Json:
        """Return a JSON value without secrets in its strings and keys; numbers are unchanged."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self.json(item) for key, item in value.items()}
        return value
