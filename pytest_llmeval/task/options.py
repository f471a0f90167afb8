"""Options from task files, checked against the signature of the function that takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Json
from pytest_llmeval.task.section import PlacedText

NO_OPTION: Final = "is not an option here"
"""Start of the problem with an option that a function does not have."""


class OptionError(LLMEvalError):
    """An option is unknown, missing or has an invalid value.

    Attributes:
        place: names of the option and of those inside its value; () if the combination of several
            is invalid.
    """

    def __init__(self, problem: str, *place: str) -> None:
        """Store the problem and its place."""
        super().__init__(problem)
        self.place = place


class Maker(Protocol):
    """Makes an option's value from that of the task file; it stands in the option's annotation.

    Example: ``tools: Annotated[tuple[Tool, ...], Maker()]``.
    """

    def make(self, value: Json, folder: Path) -> Any:  # noqa: ANN401 - whatever the option takes
        """Return what the function is given; relative paths start from `folder`.

        Raises:
            OptionError: the value is invalid; its place is that inside the value.
            ValueError: the value is invalid as a whole.
        """
        ...


def build(
    function: Callable[..., Any],
    options: Mapping[str, Json],
    folder: Path,
) -> Any:  # noqa: ANN401 - the function decides what it makes
    """Call `function` with its options, and return the result.

    Each parameter of the function is an option. Values are checked strictly against the annotations
    (the text ``"1"`` is not accepted as a number).

    Args:
        function: a class or a function.
        options: values by name.
        folder: where values of type `Path` start.

    Raises:
        OptionError: an option is invalid, or the function raises ValueError or TypeError.
    """
    values = checked(function, options, folder)
    try:
        return function(**values)
    except (TypeError, ValueError) as error:
        raise OptionError(str(error)) from None


def checked(
    function: Callable[..., Any],
    options: Mapping[str, Json],
    folder: Path,
    *,
    skip: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return the options as arguments of `function`; see `build`.

    Args:
        function: a class or a function.
        options: values by name.
        folder: where values of type `Path` start.
        skip: parameters that are not options.

    Raises:
        OptionError: an option is unknown, missing or has an invalid value.
    """
    known = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in skip and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    }
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values()):
        return {name: plain(value) for name, value in options.items()}
    for name in options:
        if name not in known:
            allowed = f"allowed: {', '.join(known)}" if known else "it has none"
            problem = f"{NO_OPTION} ({allowed})"
            raise OptionError(problem, name)
    for name, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and name not in options:
            problem = "is missing"
            raise OptionError(problem, name)
    hints = _hints(function)
    return {name: _fitting(hints.get(name, Any), options[name], name, folder) for name in options}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function.__init__ if inspect.isclass(function) else function
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        # Annotations that cannot be resolved at run time are not checked.
        return {}


def _fitting(hint: Any, value: Json, name: str, folder: Path) -> Any:  # noqa: ANN401 - any type
    """Return an option's value, checked against its annotation; OptionError if it does not fit."""
    maker = next((one for one in getattr(hint, "__metadata__", ()) if hasattr(one, "make")), None)
    if maker is not None:
        try:
            return maker.make(value, value.folder if isinstance(value, PlacedText) else folder)
        except OptionError as error:
            raise OptionError(str(error), name, *error.place) from None
        except ValueError as error:
            raise OptionError(str(error), name) from None
    if _is_path(hint) and isinstance(value, str):
        return (value.folder if isinstance(value, PlacedText) else folder) / value
    value = plain(value)
    # JSON has no tuples; strict validation accepts only those.
    if get_origin(hint) is tuple and isinstance(value, list):
        value = tuple(value)  # type: ignore[assignment]  # validated next
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(
            hint, config=ConfigDict(strict=True, arbitrary_types_allowed=True)
        )
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        message = first["msg"][:1].lower() + first["msg"][1:]
        problem = f"is {value!r}: {message}"
        raise OptionError(problem, name) from None


def plain(value: Json) -> Json:
    """Return JSON with built-in texts in place of those of an override."""
    if isinstance(value, PlacedText):
        return str(value)
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def _is_path(hint: Any) -> bool:  # noqa: ANN401 - any type
    if get_origin(hint) is Annotated:
        return _is_path(get_args(hint)[0])
    return hint is Path or Path in get_args(hint)
