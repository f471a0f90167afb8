"""The options of a scorer, solver or other thing that a task names: checked, then passed to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Json
from pytest_llmeval.task.section import OverrideText


class OptionError(LLMEvalError):
    """An option is unknown, missing or of a wrong value; `option` is its name, None for several."""

    def __init__(self, problem: str, option: str | None = None) -> None:
        """Keep what is wrong, and with which option."""
        super().__init__(problem)
        self.option = option


def build(function: Callable[..., Any], options: Mapping[str, Json], folder: Path) -> Any:  # noqa: ANN401 - whatever the function makes
    """Call `function` with its options and return what it makes.

    The parameters of the function are its options: their annotations are checked strictly (a text
    is no number), and a `Path` is relative to `folder`. ValueError and TypeError of the function
    are problems with its options too.

    Raises:
        OptionError: an option does not fit.
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
    """Return the options as `function` takes them; its parameters in `skip` are none."""
    known = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in skip and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    }
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values()):
        return {name: _plain(value) for name, value in options.items()}
    for name in options:
        if name not in known:
            allowed = f"allowed: {', '.join(known)}" if known else "it has none"
            problem = f"is no option here ({allowed})"
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
        # Annotations that only a type checker can resolve cannot be checked here.
        return {}


def _fitting(hint: Any, value: Json, name: str, folder: Path) -> Any:  # noqa: ANN401 - any annotation
    if _is_path(hint) and isinstance(value, str):
        return (value.folder if isinstance(value, OverrideText) else folder) / value
    value = _plain(value)
    # JSON has no tuples.
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


def _plain(value: Json) -> Json:
    """Return JSON with built-in texts in place of those of an override."""
    if isinstance(value, OverrideText):
        return str(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value


def _is_path(hint: Any) -> bool:  # noqa: ANN401 - any annotation
    if get_origin(hint) is Annotated:
        return _is_path(get_args(hint)[0])
    return hint is Path or Path in get_args(hint)
