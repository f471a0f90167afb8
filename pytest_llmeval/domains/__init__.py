"""Benchmarks with matter of their own. No other package imports them: they are found by name."""
