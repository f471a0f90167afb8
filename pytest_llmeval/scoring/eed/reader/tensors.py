"""Names of dummy indices, which a tensor expression is independent of."""

from __future__ import annotations

import re
from collections import Counter

import sympy

from pytest_llmeval.scoring.eed.reader.symbols import renamed

_INDICES = re.compile(r"([_^])([^_^]+)")


def with_common_dummies(value: sympy.Basic) -> sympy.Basic:
    """Return an expression whose repeated indices have the same names in every formula.

    Example: F_mu,nu F^mu,nu and F_a,b F^a,b become the same expression.
    """
    value = sympy.expand(value)
    if isinstance(value, sympy.Add):
        return sympy.Add(*(with_common_dummies(term) for term in value.args))
    tensors = [item for item in value.free_symbols if _indices(item.name)]
    counts = Counter(
        index for item in tensors for _, names in _indices(item.name) for index in names
    )
    free = {index for index, count in counts.items() if count == 1}
    names: dict[str, str] = {}
    for item in sorted(tensors, key=lambda item: _pattern(item.name, free)):
        for _, indices in _indices(item.name):
            for index in indices:
                if index not in free:
                    names.setdefault(index, f"d{len(names)}")
    return value.xreplace({item: renamed(item, _with(item.name, names)) for item in tensors})


def _indices(name: str) -> list[tuple[str, list[str]]]:
    """Return the index groups of a name, each with its place ("_" or "^")."""
    return [(place, text.split(",")) for place, text in _INDICES.findall(name)]


def _base(name: str) -> str:
    return re.split(r"[_^]", name, maxsplit=1)[0]


def _pattern(name: str, free: set[str]) -> str:
    """Return a name with its dummy indices masked."""
    groups = [
        place + ",".join(index if index in free else "*" for index in indices)
        for place, indices in _indices(name)
    ]
    return _base(name) + "".join(groups)


def _with(name: str, names: dict[str, str]) -> str:
    """Return a name with its indices renamed, raised ones before lowered ones."""
    groups = sorted(_indices(name), key=lambda group: group[0] == "_")
    return _base(name) + "".join(
        place + ",".join(names.get(index, index) for index in indices) for place, indices in groups
    )
