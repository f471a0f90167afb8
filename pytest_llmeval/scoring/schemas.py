"""JSON schemas that validate what a model wrote, within limits of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

import regex
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import Draft202012Validator, extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.json_text import comparable_json

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

SHOWN_ERRORS: Final = 3
"""Violations that are named."""

LONGEST_MESSAGE: Final = 300
"""Characters of a violation's message, which quotes the value."""

PATTERN_SECONDS: Final = 1.0
"""CPU seconds that one pattern of a schema may take on one text."""


class Schema:
    """A JSON schema; without ``$schema`` one of draft 2020-12.

    References must lead into the schema itself: nothing is fetched. The keywords `pattern` and
    `patternProperties` are limited in time, `uniqueItems` takes linear time.
    """

    def __init__(self, schema: Json) -> None:
        """Check `schema`.

        Raises:
            ValueError: it is no schema, or refers to what it does not hold.
        """
        if not isinstance(schema, dict):
            msg = f"the schema is no mapping: {str(schema)[:100]!r}"
            raise ValueError(msg)  # noqa: TRY004 - an option with a wrong value
        base = validator_for(schema, default=Draft202012Validator)
        try:
            base.check_schema(schema)
        except SchemaError as error:
            msg = f"the schema is none: {error.json_path}: {error.message[:LONGEST_MESSAGE]}"
            raise ValueError(msg) from None
        bounded = extend(base, _BOUNDED)  # type: ignore[no-untyped-call]
        self._validator = cast("Validator", bounded(schema, registry=Registry()))
        self._check_references(schema)

    def problems(self, value: Json) -> str:
        """Return the first violations with their paths, such as ``$.age: ...``; "" for none."""
        try:
            errors = list(islice(self._validator.iter_errors(value), SHOWN_ERRORS))
        except TimeoutError:
            return f"a pattern of the schema does not match within {PATTERN_SECONDS:g} CPU s"
        except (ArithmeticError, RecursionError) as error:
            return f"it cannot be validated: {error}"
        return "; ".join(
            f"{error.json_path}: {error.message[:LONGEST_MESSAGE]}" for error in errors
        )

    def _check_references(self, part: Json) -> None:
        """Raise ValueError for a reference that leads nowhere."""
        if isinstance(part, dict):
            target = part.get("$ref")
            if isinstance(target, str):
                try:
                    # Validating anything resolves it.
                    list(self._validator.evolve(schema={"$ref": target}).iter_errors(None))
                except Unresolvable:
                    msg = f"the schema refers to {target!r}, which it does not hold"
                    raise ValueError(msg) from None
                except RecursionError:
                    msg = f"the schema's reference {target!r} leads to itself"
                    raise ValueError(msg) from None
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        for one in inner:
            self._check_references(one)


def _pattern(
    validator: Validator,
    pattern: str,
    value: Json,
    schema: Json,  # noqa: ARG001 - jsonschema passes it
) -> Iterator[ValidationError]:
    if validator.is_type(value, "string") and not _matches(pattern, str(value)):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any,  # noqa: ANN401 - its method `descend` is not in the protocol
    patterns: Mapping[str, Json],
    value: Json,
    schema: Json,  # noqa: ARG001 - jsonschema passes it
) -> Iterator[ValidationError]:
    if isinstance(value, dict):
        for pattern, inner in patterns.items():
            for key in (key for key in value if _matches(pattern, key)):
                yield from validator.descend(value[key], inner, path=key, schema_path=pattern)


def _unique_items(
    validator: Validator,  # noqa: ARG001 - jsonschema passes it
    unique: bool,  # noqa: FBT001 - the keyword's value
    value: Json,
    schema: Json,  # noqa: ARG001 - jsonschema passes it
) -> Iterator[ValidationError]:
    if unique and isinstance(value, list) and len(set(map(comparable_json, value))) < len(value):
        yield ValidationError("has equal elements")


_BOUNDED: Final = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "uniqueItems": _unique_items,
}


def _matches(pattern: str, text: str) -> bool:
    return regex.search(pattern, text, timeout=PATTERN_SECONDS) is not None
