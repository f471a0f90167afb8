"""pytest-llmeval: LLM benchmarks as pytest tests."""
