"""The text that says who graded: the rules, their options, and the models that were asked.

Scores with equal texts are comparable, all others are not::

    sldp/1 tolerance=0.01 case_sensitive=false
    judge/1 prompt 1a2b3c4d prefilter/4 votes=3 by openai/gpt-5.1-mini

Every option stands there, also one with its default value: defaults change.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, runtime_checkable

from pytest_llmeval.safety.regular_files import read_regular
from pytest_llmeval.scoring.scorer import AskingScorer, Scorer

NO_JUDGE: Final = "no judge"
"""What stands in place of the models when none is configured."""

_MAX_BYTES: Final = 1 << 30
_DIGITS: Final = 8
"""Hexadecimal digits of a digest."""

_LONGEST: Final = 60
"""Characters of an option's value; of a longer one its digest is shown."""

_BY: Final = " by "
_BARE: Final = re.compile(r"[^\s\"=#][^\s\"]*")
_OPTION: Final = re.compile(r' [A-Za-z_]\w*=(?:"(?:[^"\\]|\\.)*"|[^\s"]+)')
_NONE_GIVEN: Final[Mapping[str, Any]] = MappingProxyType({})


@runtime_checkable
class NamesOptions(Protocol):
    """A scorer that says itself which of its options its grader's text lists."""

    @property
    def grader_options(self) -> Mapping[str, Any]:
        """The options that can change a score, by name."""
        ...


@runtime_checkable
class AsksSome(Protocol):
    """A scorer that does not ask all models that it may ask, or to which their order is nothing."""

    def asked(self, models: Sequence[str]) -> Sequence[str]:
        """Return those of the models that it asks; the same for every order that is nothing."""
        ...


def grader_text(
    scorer: Scorer,
    models: Sequence[str] = (),
    *,
    rules: str = "",
    declared: Mapping[str, Any] = _NONE_GIVEN,
) -> str:
    """Return the text for the scores of a scorer.

    Args:
        scorer: the scorer.
        models: names of the models that a scorer with `prepare` may ask.
        rules: version of the rules, where a score names another one than the scorer.
        declared: the options in the task file. They count where the scorer has no attribute of
            that name.
    """
    options = options_text(scorer, declared)
    text = f"{rules or scorer.grader}{options and f' {options}'}"
    return f"{text}{_BY}{_panel(scorer, models)}" if isinstance(scorer, AskingScorer) else text


def options_text(scorer: Scorer, declared: Mapping[str, Any] = _NONE_GIVEN) -> str:
    """Return the options in a grader's text, such as ``votes=3 minimum=7``; "" for none."""
    return " ".join(f"{name}={_shown(value)}" for name, value in _options(scorer, declared))


def options_of(text: str) -> str:
    """Return the options in a grader's text; "" for one without."""
    return "".join(_OPTION.findall(without_models(text))).strip()


def rules_of(text: str) -> str:
    """Return a grader's text without the options: the rules, and the models that were asked.

    They are the same for all samples of a task, while a test may choose options by sample.
    """
    return _OPTION.sub("", text)


def panel_of(text: str) -> str:
    """Return the models in a grader's text; "" for one without."""
    return rules_of(text).partition(_BY)[2]


def without_models(text: str) -> str:
    """Return a grader's text without the models that were asked."""
    return text.partition(_BY)[0]


def digest(data: object) -> str:
    """Return the first digits of the sha256 of a value's JSON form."""
    text = json.dumps(data, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _panel(scorer: Scorer, models: Sequence[str]) -> str:
    asked = scorer.asked(models) if isinstance(scorer, AsksSome) else models
    return " + ".join(map(_word, asked)) or NO_JUDGE


def _options(scorer: Scorer, declared: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the options of a scorer, without those that the text has in another place."""
    if isinstance(scorer, NamesOptions):
        return list(scorer.grader_options.items())
    models = {"models", "role"} if isinstance(scorer, AskingScorer) else set[str]()
    elsewhere = {"name", *models}
    names = [name for name in inspect.signature(type(scorer)).parameters if name not in elsewhere]
    own = {name: getattr(scorer, name) for name in names if hasattr(scorer, name)}
    others = {name: declared[name] for name in declared if name not in {*own, *elsewhere}}
    return list((own | others).items())


def _shown(value: object) -> str:
    """Return an option's value as one word, or as a digest where it is long or has many parts."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 100 and 100.0 are one option
    if isinstance(value, str):
        text = _word(value)
    else:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)
        text = text if _BARE.fullmatch(text) else ""
    return text if 0 < len(text) <= _LONGEST else f"#{digest(value)}"


def _word(text: str) -> str:
    """Return a text as it is if it is one word that no other kind of value could be, else quoted.

    So the text ``1`` and the number 1 differ.
    """
    try:
        json.loads(text)
    except ValueError:
        return text if _BARE.fullmatch(text) else json.dumps(text)
    return json.dumps(text)


def _plain(value: object) -> object:
    """Return a plain form of what JSON does not hold; a file stands for its content.

    The form is the same in every process, so no address of an object is in it.
    """
    if isinstance(value, Path):
        content = (
            read_regular(value, max_bytes=_MAX_BYTES) if value.is_file() else value.name.encode()
        )
        return f"sha256:{hashlib.sha256(content).hexdigest()}"
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    if isinstance(value, re.Pattern):
        return [value.pattern, value.flags]
    if isinstance(value, Mapping):
        return dict(value)
    kind = value if hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"
