"""Exceptions as plain JSON, to raise them in another process."""

from __future__ import annotations

import math
from typing import Any, Final

from pytest_llmeval import errors
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.safety.printable import class_name, message_of, printable

_TOO_LARGE: Final = 2**63
"""Integers from here on are left out."""

_CLASSES: Final = {
    name: one
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, LLMEvalError)
}
"""All classes of `errors`, by name."""


def error_to_json(error: BaseException) -> dict[str, Any]:
    """Return the JSON form of any exception, to raise it in another process.

    It never raises, and what it returns is plain JSON of some kilobytes, whatever the exception
    holds: texts are printable and cut, and attributes that JSON cannot express are left out.

    Returns:
        ``kind`` (the nearest class of `errors`; else the exception's own name), ``message`` and
        ``fields`` (attributes; {} for foreign classes).
    """
    # By identity: a class of others may have a metaclass that compares as it likes.
    own = next(
        (name for one in type.mro(type(error)) for name, ours in _CLASSES.items() if one is ours),
        None,
    )
    return {
        "kind": own or class_name(error),
        "message": message_of(error),
        "fields": _plain_fields(error) if own else {},
    }


def error_from_json(data: Any) -> LLMEvalError:  # noqa: ANN401 - JSON
    """Return the error that `error_to_json` wrote.

    Returns:
        An instance of the original class, if `errors` defines it; else an LLMEvalError whose
        message starts with the class name.
    """
    kind, message = str(data["kind"]), str(data["message"])
    known = _CLASSES.get(kind)
    if known is None:
        return LLMEvalError(f"{kind}: {message}".removesuffix(": "))
    # Without __init__, which would compose the message a second time.
    error = known.__new__(known, message)
    vars(error).update(data["fields"])
    return error


def _plain_fields(error: BaseException) -> dict[str, Any]:
    """Return the attributes that are short texts, numbers or None."""
    try:
        # By the base class's own attribute, which a subclass may hide.
        found = dict(BaseException.__dict__["__dict__"].__get__(error))
    except BaseException:  # noqa: BLE001 - a subclass may do anything here
        return {}
    return {
        name: printable(value) if type(value) is str else value
        for name, value in found.items()
        if type(name) is str and name.isidentifier() and _is_plain(value)
    }


def _is_plain(value: object) -> bool:
    if type(value) is int:
        return abs(value) < _TOO_LARGE
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (str, bool)
