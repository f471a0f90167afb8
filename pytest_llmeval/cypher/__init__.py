"""Cypher without a database: a model's query found and checked, rows as text, a scene as nodes and relationships."""

from pytest_llmeval.cypher.query import extract_query, preflight
from pytest_llmeval.cypher.rows import rows_text
from pytest_llmeval.cypher.scene_graph import SceneGraph, read_class_names, read_scene

__all__ = ["SceneGraph", "extract_query", "preflight", "read_class_names", "read_scene", "rows_text"]
