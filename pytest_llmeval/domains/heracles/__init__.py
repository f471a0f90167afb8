"""Heracles: a scene graph in a graph database, Cypher guarded and run, rows as text."""
