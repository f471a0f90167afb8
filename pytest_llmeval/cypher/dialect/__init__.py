"""Cypher of Neo4j 5 on an engine with a dialect of its own: refused as Neo4j refuses, rewritten where rows would differ."""

from pytest_llmeval.cypher.dialect.adapt import Adapted, adapt

__all__ = ["Adapted", "adapt"]
