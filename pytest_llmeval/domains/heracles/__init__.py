"""Heracles: questions about a scene graph, answered through Cypher or from the graph as text."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.domains.heracles.cypher_tool import run_cypher, start_graph
    from pytest_llmeval.domains.heracles.scene_graph import read_class_names

__all__ = ["read_class_names", "run_cypher", "start_graph"]

# Imported on first use: every pytest session loads this package for the options that it declares.
_HOMES = {
    "read_class_names": "scene_graph",
    "run_cypher": "cypher_tool",
    "start_graph": "cypher_tool",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
