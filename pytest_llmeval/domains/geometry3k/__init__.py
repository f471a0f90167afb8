"""Geometry3K: diagrams drawn over, visual chain of thought, the folder form of the public data."""
