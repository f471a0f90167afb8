"""Cypher of Neo4j 5 on an engine with another dialect: refused as Neo4j refuses, rewritten where rows would differ."""

from pytest_llmeval.domains.heracles.dialect.adapt import Adapted, adapt
from pytest_llmeval.domains.heracles.dialect.properties import property_types

__all__ = ["Adapted", "adapt", "property_types"]
