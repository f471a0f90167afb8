"""Geometry3K: diagrams drawn and edited, visual chain of thought."""
