"""Providers of models, each opened by its name in the registry (`task/registry.py`)."""
