"""Model specs: ``openai/NAME``, ``azure/DEPLOYMENT``, ``replay/FILE``, ``python/./file.py:callable``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.errors import UsageError

KINDS = ("openai", "azure", "replay", "python")
FORMS = "openai/NAME, azure/DEPLOYMENT, replay/FILE, python/./file.py:callable"
RECORDED = "recorded"
"""How rows call a task's own recorded replies, which run when no model is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model of the run: the provider's kind, the model's name there, and how rows and test ids call it.

    The name of a ``python/`` model stays as typed, relative to the invocation folder, so that the same command has the
    same request keys on every machine.
    """

    kind: str
    name: str
    label: str

    @property
    def text(self) -> str:
        """The spec as it would be typed."""
        return f"{self.kind}/{self.name}"

    @property
    def recorded(self) -> bool:
        """Whether replies come from a recording, not from a live model."""
        return self.kind == "replay"


def parse_spec(text: str, *, folder: Path) -> ModelSpec:
    """Return the spec that `text` says; relative files are taken from `folder`. UsageError for anything else."""
    kind, _, name = text.partition("/")
    if kind not in KINDS or not name:
        msg = f"unknown model spec {text!r}; expected one of {FORMS}"
        raise UsageError(msg)
    if kind == "replay":
        return replay_spec(_existing(folder / name, text), label=text)
    if kind == "python":
        file, colon, callable_name = name.rpartition(":")
        if not colon or not callable_name.isidentifier():
            msg = f"model spec {text!r} names no callable; expected python/./file.py:callable"
            raise UsageError(msg)
        _existing(folder / file, text)
    return ModelSpec(kind=kind, name=name, label=text)


def replay_spec(file: Path, *, label: str = RECORDED) -> ModelSpec:
    """Return the spec of a recording."""
    return ModelSpec(kind="replay", name=str(file), label=label)


def _existing(path: Path, text: str) -> Path:
    if not path.is_file():
        msg = f"model spec {text!r}: no file at {path}"
        raise UsageError(msg)
    return path.resolve()
