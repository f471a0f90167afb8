"""The session option that this domain adds: ``--llmeval-graph``."""

from typing import Final

GRAPH: Final = (
    "URI",
    "graph database of Cypher tasks: bolt://HOST:PORT[,reset=on]; an embedded one without",
)
"""Placeholder of its value, and help. `address.GraphAddress` reads the value."""
