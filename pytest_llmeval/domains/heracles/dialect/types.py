"""Types of values, as far as Neo4j knows them before a query runs, and as far as the scene's data tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError, argument_error, type_error
from pytest_llmeval.domains.heracles.dialect.syntax import Part

_STORABLE: Final = [
    "Boolean",
    "Float",
    "Integer",
    "Number",
    "Point",
    "String",
    "Duration",
    "Date",
    "Time",
    "LocalTime",
    "LocalDateTime",
    "DateTime",
]


@dataclass(frozen=True, slots=True)
class Type:
    """A type by Neo4j's name for it. `inner` is that of a list's items.

    ``Any`` can be everything; ``Stored`` is a node's property, anything but nodes, relationships,
    paths and maps, of which `data` is what all such properties of the scene hold (empty: not
    known). ``Number`` is Integer or Float. The type of a `found` value is known from the data
    alone: Neo4j complains while the query runs.
    """

    name: str
    inner: Type | None = None
    data: str = ""

    def __str__(self) -> str:
        """Return it as Neo4j's messages tell it."""
        if self.name == "Stored":
            names = [*_STORABLE, *(f"List<{name}>" for name in _STORABLE)]
            return f"{', '.join(names[:-1])} or {names[-1]}"
        if self.name == "List":
            return f"List<{self.inner or ANY}>"
        return "Float or Integer" if self.name == "Number" else self.name

    @property
    def is_open(self) -> bool:
        """Whether nothing can be said against any use of it."""
        return self.name in {"Any", "Null"}

    @property
    def value(self) -> str:
        """What values have: the data's type if it is known, the static one otherwise."""
        return self.data or self.name

    def fits(self, *names: str) -> bool:
        """Whether a value of this type can be one of `names`, before any data is looked at."""
        wanted = set(names)
        if self.is_open or wanted & {"Any", self.name}:
            return True
        if self.name == "Stored":
            return bool(wanted & {*_STORABLE, "List"})
        if self.name == "Number":
            return bool(wanted & {"Integer", "Float"})
        return self.name == "Integer" and "Float" in wanted


ANY: Final = Type("Any")
NULL: Final = Type("Null")
BOOLEAN: Final = Type("Boolean")
INTEGER: Final = Type("Integer")
FLOAT: Final = Type("Float")
NUMBER: Final = Type("Number")
STRING: Final = Type("String")
POINT: Final = Type("Point")
MAP: Final = Type("Map")
NODE: Final = Type("Node")
RELATIONSHIP: Final = Type("Relationship")
PATH: Final = Type("Path")

_BY_NAME: Final = {
    kind.name: kind
    for kind in (
        ANY,
        NULL,
        BOOLEAN,
        INTEGER,
        FLOAT,
        NUMBER,
        STRING,
        POINT,
        MAP,
        NODE,
        RELATIONSHIP,
        PATH,
    )
}

POINT_FIELDS: Final = {
    "x": FLOAT,
    "y": FLOAT,
    "z": FLOAT,
    "longitude": FLOAT,
    "latitude": FLOAT,
    "height": FLOAT,
    "crs": STRING,
    "srid": INTEGER,
}
_CARTESIAN: Final = ("x", "y", "z", "crs", "srid")


def named(name: str) -> Type:
    """Return the type called `name`, such as ``String`` or ``List<Node>``."""
    if name.startswith("List<"):
        return list_of(named(name[len("List<") : -1]))
    return _BY_NAME.get(name) or Type(name)


def list_of(inner: Type) -> Type:
    """Return the type of a list."""
    return Type("List", inner)


def common(types: list[Type]) -> Type:
    """Return what values of any of `types` have in common."""
    known = {replace(kind, data="") for kind in types if kind != NULL}
    if len(known) == 1:
        return next(kind for kind in types if kind != NULL)
    return NUMBER if known and known <= {INTEGER, FLOAT, NUMBER} else ANY


def need(part: Part, kind: Type, *names: str, words: str | None = None) -> None:
    """Refuse a part of type `kind` where one of `names` must stand; `words` tell them otherwise than by name."""
    if not kind.fits(*names):
        told = words or _alternatives(names)
        msg = f"Type mismatch: expected {told} but was {kind}"
        raise RefusedError(msg, part.start)


def need_boolean(part: Part, kind: Type, *, decides: bool = True) -> None:
    """Refuse a part that is no truth value; `decides`: Neo4j always looks at it, so that the data's type counts."""
    if kind.name == "List":
        msg = "Coercion of list to boolean is not allowed. Please use `NOT isEmpty(...)` instead."
        raise RefusedError(msg, part.start)
    need(part, kind, "Boolean")
    if decides and kind.data not in {"", "Boolean", "List"}:
        raise type_error(f"Don't know how to treat that as a predicate: {java_name(kind.data)}")


def property_of(part: Part, kind: Type, key: str, properties: Mapping[str, str]) -> Type:
    """Return the type of ``part.key``; `properties` tell the data's types by name."""
    allowed = (
        "Map",
        "Node",
        "Relationship",
        "Point",
        "Duration",
        "Date",
        "Time",
        "LocalTime",
        "LocalDateTime",
    )
    need(part, kind, *allowed, "DateTime")
    if kind.value == "Point":
        return _field(kind, key)
    if kind.data:
        raise type_error(f"Type mismatch: expected a map but was {java_name(kind.data)}")
    if kind.name in {"Node", "Relationship"}:
        return Type("Stored", data=properties.get(key, ""))
    return ANY


def _field(kind: Type, key: str) -> Type:
    if key not in POINT_FIELDS:
        raise argument_error(f"No such field: {key}")
    if kind.data and key not in _CARTESIAN:
        raise argument_error(f"Field: {key} is not available on cartesian point")
    # Static types stop at a property: Neo4j knows what a point's field is only when it has the
    # point.
    field = POINT_FIELDS[key]
    return Type("Any", data=field.name) if kind.data else field


def java_name(name: str) -> str:
    """Return how Neo4j calls a type while a query runs."""
    return {"Integer": "Long", "Float": "Double"}.get(name, name)


def _alternatives(names: tuple[str, ...]) -> str:
    shown = ["List<T>" if name == "List" else name for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
