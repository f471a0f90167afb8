"""A Python function as a tool: its signature is the schema, its docstring the description."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NotRequired, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError, with_config
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from pytest_llmeval.engine.blocking import run_in_thread
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.engine.tool import CallError
from pytest_llmeval.records import Json, ToolUse

_MODEL_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def model_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters of a function that the model gives: those before a ``*``.

    The keyword-only ones are options of the task.
    """
    known = inspect.signature(function).parameters.values()
    return tuple(one.name for one in known if one.kind in _MODEL_KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTool:
    """A function that a model may call.

    A plain function runs in a thread. A text that it returns is shown as it is, anything else as
    JSON. A `CallError` that it raises is told to the model.

    Attributes:
        name, description, parameters: see `Tool`.
        function: the function, with the task's options filled in.
        arguments: makes the function's values of those that a model gives.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    function: Callable[..., Any]
    arguments: TypeAdapter[dict[str, Any]]

    @classmethod
    def of(cls, function: Callable[..., Any], options: Mapping[str, Any]) -> FunctionTool:
        """Return the tool of a function, with its options filled in.

        Raises:
            ValueError: it has no docstring, or a parameter that JSON cannot give.
        """
        description = inspect.getdoc(function)
        if not description:
            msg = "has no docstring; it is what the model is told of the tool"
            raise ValueError(msg)
        arguments = _arguments(function)
        try:
            schema = arguments.json_schema(schema_generator=_Untitled)
        except PydanticInvalidForJsonSchema as error:
            msg = f"has a parameter that JSON cannot give: {error.message}"
            raise ValueError(msg) from None
        schema.pop("title", None)
        schema.pop("description", None)
        return cls(
            name=function.__name__,
            description=description,
            parameters=_with_defaults(schema, function),
            function=partial(function, **options) if options else function,
            arguments=arguments,
        )

    async def __call__(
        self, arguments: Mapping[str, Json], context: SolverContext, *, stage: str
    ) -> ToolUse:
        """Call the function, and record it; whatever it raises but a `CallError` is raised."""
        started = time.perf_counter()
        output, error = "", None
        try:
            output = _text(await self._result(arguments))
        except CallError as mistake:
            error = str(mistake)
        written = json.dumps(arguments, ensure_ascii=False)
        use = ToolUse(
            stage=stage,
            tool=self.name,
            input=written,
            output=output,
            error=error,
            seconds=time.perf_counter() - started,
        )
        context.record(use)
        return use

    async def _result(self, arguments: Mapping[str, Json]) -> object:
        try:
            values = self.arguments.validate_python(arguments)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            msg = f"the argument {place} does not fit: {first['msg']}"
            raise CallError(msg) from None
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**values)
        return await run_in_thread(partial(self.function, **values))


class _Untitled(GenerateJsonSchema):
    """JSON schemas without titles, which only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002 - pydantic's
        return False


def _arguments(function: Callable[..., Any]) -> TypeAdapter[dict[str, Any]]:
    """Return what validates the model's arguments, as a mapping by name."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        msg = f"has a type hint that cannot be resolved: {error}"
        raise ValueError(msg) from None
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            msg = f"has the parameter {parameter}; a tool's arguments are given by name"
            raise ValueError(msg)
        if name not in hints:
            msg = f"has the parameter {name!r} without a type hint"
            raise ValueError(msg)
        fields[name] = (
            hints[name] if parameter.default is parameter.empty else NotRequired[hints[name]]
        )
    # A type that is made at run time, which type checkers do not follow.
    make_type: Any = TypedDict
    shape = with_config(ConfigDict(extra="forbid"))(make_type(function.__name__, fields))
    try:
        return TypeAdapter(shape)
    except PydanticUserError as error:
        msg = f"has a parameter of a type that JSON cannot give: {error.message}"
        raise ValueError(msg) from None


def _with_defaults(schema: dict[str, Any], function: Callable[..., Any]) -> dict[str, Json]:
    """Return the schema with the defaults of parameters, where JSON can express them."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name in schema.get("properties", {}) and parameter.default is not parameter.empty:
            try:
                json.dumps(parameter.default)
            except (TypeError, ValueError):
                continue
            schema["properties"][name] = {
                **schema["properties"][name],
                "default": parameter.default,
            }
    return schema


def _text(value: object) -> str:
    """Return a result as the model is shown it; TypeError or ValueError if it is not JSON."""
    return (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    )
