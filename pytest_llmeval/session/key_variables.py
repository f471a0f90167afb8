"""The environment variables with keys of models, which only the engine's process needs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Final

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.session.settings import Settings

KNOWN: Final = frozenset(
    {
        *("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
        *("AZURE_API_KEY", "AZURE_CLIENT_SECRET", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "XAI_API_KEY"),
        *("DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY"),
        *("CO_API_KEY", "COHERE_API_KEY", "PERPLEXITY_API_KEY", "NVIDIA_API_KEY", "VLLM_API_KEY"),
        *("DASHSCOPE_API_KEY", "MOONSHOT_API_KEY", "ZHIPUAI_API_KEY", "REPLICATE_API_TOKEN"),
        "AWS_BEARER_TOKEN_BEDROCK",
    }
)
"""Variables in which providers' clients look for a key. HF_TOKEN is none of them: datasets are read
with it, which workers do too."""


def key_variables(settings: Settings, environment: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the set variables that hold keys of models.

    They are the known ones, and those that the session's models of all roles name (``key=NAME``).

    Raises:
        UsageError: a spec is invalid.
    """
    folder = Path(settings.folder)
    texts = chain(settings.models, *settings.by_role.values())
    specs = (parse_spec(text, folder=folder) for text in texts)
    named = {spec.options["key"] for spec in specs if "key" in spec.options}
    return frozenset((KNOWN | named) & environment.keys())
