"""Resolution of a session's options into `Settings`.

A value on the command line precedes the environment variable ``LLMEVAL_NAME``, which precedes the
ini key ``llmeval_name``. For models that holds for each role by itself.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from pytest_llmeval.errors import UsageError
from pytest_llmeval.roles import JUDGE, SOLVER
from pytest_llmeval.session.options import TABLE, Option, all_options, options_called
from pytest_llmeval.session.role_specs import specs_by_role
from pytest_llmeval.session.settings import Settings

_FIELDS = {"sample": "samples"}
"""Fields of `Settings` whose names differ from those of their options."""

_MODELS = ("model", "judge")
"""The options that name models; both may name judges."""


class OptionSource(Protocol):
    """The source of option values: pytest's configuration, or a parsed command line."""

    @property
    def folder(self) -> Path:
        """The folder where the command was typed; its relative paths start here."""
        ...

    @property
    def root(self) -> Path:
        """The folder where relative paths in ini keys start."""
        ...

    def typed(self, option: Option) -> object:
        """Return the value on the command line: a text, a list of texts, True, or None."""
        ...

    def ini(self, option: Option) -> str:
        """Return the value in the ini file; "" for none."""
        ...


def resolve(source: OptionSource) -> Settings:
    """Return the settings of a session.

    Raises:
        UsageError: a value is invalid; the message names the option, variable or ini key.
    """
    options = all_options()
    given = {one.name: value for one in options if (value := value_of(one, source)) is not None}
    known = {option.name for option in TABLE}
    fields: dict[str, Any] = {
        _FIELDS.get(name, name.replace("-", "_")): tuple(value) if type(value) is list else value
        for name, value in given.items()
        if name in known - {"set", *_MODELS}
    }
    models = _models(source)
    return Settings(
        **fields,
        models=models.pop(SOLVER, ()),
        judges=models.pop(JUDGE, ()),
        roles=models,
        overrides=_overrides(given.get("set", [])),
        domain={name: value for name, value in given.items() if name not in known},
        folder=str(source.folder),
    )


def _models(source: OptionSource) -> dict[str, tuple[str, ...]]:
    """Return the specs of each role, from the first place that names a model of the role.

    So a model under test on the command line leaves the ini file's judge as it is.
    """
    found: dict[str, tuple[str, ...]] = {}
    model, judge = options_called(_MODELS)
    for texts, judges in zip(_values(model, source), _values(judge, source), strict=True):
        named = specs_by_role(texts or ())
        if judges:
            named[JUDGE] = [*judges, *named.get(JUDGE, ())]
        found = {role: tuple(specs) for role, specs in named.items()} | found
    return found


def value_of(option: Option, source: OptionSource) -> Any:  # noqa: ANN401 - depends on the kind
    """Return the value of an option, converted by its kind; None when it is not given."""
    return next((value for value in _values(option, source) if value is not None), None)


def _values(option: Option, source: OptionSource) -> Iterator[Any]:
    """Yield the value of an option in each place, the first one first; None where it is not."""
    typed = source.typed(option)
    texts = typed if isinstance(typed, list) else [typed]
    yield None if typed is None else _converted(option, texts, option.flag, source.folder)
    variable, ini = os.environ.get(option.variable), source.ini(option)
    for text, place, folder in (
        (variable, option.variable, source.folder),
        (ini, f"ini key {option.key}", source.root),
    ):
        yield _converted(option, _split(option, text), place, folder) if text else None


def _split(option: Option, text: str) -> list[str]:
    return shlex.split(text) if option.kind == "list" else [text]


def _converted(
    option: Option,
    texts: list[Any],
    place: str,
    folder: Path,
) -> Any:  # noqa: ANN401 - as above
    """Return the value that the texts from one place mean; of several the last, except in lists."""
    last = texts[-1]
    match option.kind:
        case "list":
            return texts
        case "text":
            return last
        case "flag":
            return last is True or str(last).lower() in {"1", "true", "yes", "on"}
        case "path":
            return str((folder / last).resolve())
        case "count" | "seed" | "seconds" | "shard" | "limit" | "progress":
            read, expected = _READERS[option.kind]
            try:
                return read(last)
            except ValueError:
                msg = f"{place}: {last!r} is not {expected}"
                raise UsageError(msg) from None


def _count(text: str) -> int:
    return int(_above_zero(int(text)))


def _above_zero(number: float) -> float:
    # In this form the comparison also refuses NaN.
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def _seed(text: str) -> int:
    # Providers store seeds in 64 bits, and each epoch adds to the seed.
    if not 0 <= (seed := int(text)) < 2**53:
        raise ValueError
    return seed


def _shard(text: str) -> tuple[int, int]:
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError
    return part, parts


def _progress(text: str) -> str:
    if text not in {"auto", "line", "plain", "none"}:
        raise ValueError
    return text


def _limit(text: str) -> int | str:
    count, seed = limit_parts(text)
    return count if seed is None else f"{count},seed={seed}"


def limit_parts(limit: int | str) -> tuple[int, int | None]:
    """Return count and seed of a limit such as ``50,seed=1``; ValueError if it is none."""
    count, _, seed = str(limit).partition(",")
    if not seed:
        return _count(count), None
    name, _, number = seed.partition("=")
    if name.strip() != "seed":
        raise ValueError
    return _count(count), _seed(number)


_READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "count": (_count, "a whole number from 1 on"),
    "limit": (_limit, "a whole number from 1 on, or one with a seed, such as 50,seed=1"),
    "progress": (_progress, "auto, line, plain or none"),
    "seed": (_seed, "a whole number from 0 on"),
    "seconds": (lambda text: _above_zero(float(text)), "a number above 0"),
    "shard": (_shard, "of the form I/N with I from 1 to N, such as 1/4"),
}
"""By kind, a function that parses a text (ValueError if it cannot), and the expected form."""


def _overrides(texts: list[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of overrides by task name and dotted key."""
    overrides: dict[str, dict[str, str]] = {}
    for text in texts:
        target, equals, value = text.partition("=")
        task, _, key = target.partition(".")
        if not (task and key and equals and value):
            msg = f"--llmeval-set: {text!r} is not of the form TASK.KEY=VALUE"
            raise UsageError(msg)
        overrides.setdefault(task, {})[key] = value
    return overrides
