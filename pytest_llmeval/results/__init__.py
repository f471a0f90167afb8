"""Rows to figures, comparisons and gates, and the files of a run."""
