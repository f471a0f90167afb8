"""Scores the answers of a table of any size, without a run: in children, or on a cluster."""
