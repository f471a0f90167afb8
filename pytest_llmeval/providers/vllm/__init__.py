"""Servers of vLLM that a run starts itself."""
