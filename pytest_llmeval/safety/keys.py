"""Keys recognised by their shape, whoever wrote them and wherever they come from.

The shapes are distinctive: a prefix that its issuer chose for this purpose, followed by more
random characters than any word has. A digest, an id or a word with a hyphen has none of them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

BLOT: Final = "[key]"
"""What stands in place of a key."""

_START: Final = r"(?<![\w-])"
"""A key begins where a run of its characters does: so each run is searched once."""

_SHAPES: Final = (
    # OpenAI, Anthropic, OpenRouter, DeepSeek: a run of 16 with a digit, no hyphenated words.
    ("sk-", _START + r"sk-(?=[\w-]*[A-Za-z0-9]{16})(?=[\w-]*\d)[\w-]{20,}"),
    ("AIza", _START + r"AIza[\w-]{35}(?![\w-])"),  # Google
    ("gsk_", _START + r"gsk_[A-Za-z0-9]{40,}"),  # Groq
    ("xai-", _START + r"xai-[A-Za-z0-9]{40,}"),  # xAI
    ("pplx-", _START + r"pplx-[A-Za-z0-9]{40,}"),  # Perplexity
    ("nvapi-", _START + r"nvapi-[\w-]{40,}"),  # NVIDIA
    ("hf_", _START + r"hf_[A-Za-z0-9]{30,}"),  # Hugging Face
    ("r8_", _START + r"r8_[A-Za-z0-9]{37,}"),  # Replicate
    ("gh", _START + r"gh[pousr]_[A-Za-z0-9]{36,}"),  # GitHub
    ("github_pat_", _START + r"github_pat_\w{50,}"),
    ("glpat-", _START + r"glpat-[\w-]{20,}"),  # GitLab
    ("xox", _START + r"xox[abprs]-[A-Za-z0-9-]{20,}"),  # Slack
    ("AKIA", _START + r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),  # AWS
    ("ASIA", _START + r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("JQQJ99", _START + r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}(?![A-Za-z0-9])"),  # Azure
    ("eyJ", _START + r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),  # JSON web tokens, Entra ID
    ("earer ", r"(?<=[Bb]earer )[A-Za-z0-9][\w.~+/-]{19,}=*"),
    # Older keys of Azure have no shape of their own, only their header.
    ("pi-key", r"(?<=pi-key)(\W{1,6})[A-Za-z0-9]{32,}(?![A-Za-z0-9])"),
    ("pi-Key", r"(?<=pi-Key)(\W{1,6})[A-Za-z0-9]{32,}(?![A-Za-z0-9])"),
    ("pi_key", r"(?<=pi_key)(\W{1,6})[A-Za-z0-9][\w-]{19,}(?![A-Za-z0-9])"),
)
"""What a key of each shape holds, and its pattern, which is compiled when a text holds that."""

_USER_INFO: Final = r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
"""User and password in an address."""

_FEWEST: Final = 16
"""Characters that follow the marker of each shape at least, but for headers, whose separators a
line of JSON may write as escapes."""

_HEADERS: Final = ("pi-key", "pi-Key", "pi_key")

_RUNS: Final = tuple(
    # With the backslash: in JSON a letter of \w may stand as its escape.
    (marker, re.escape(marker) + rf"[\w\\.~+/-]{{{_FEWEST}}}")
    for marker, _ in _SHAPES
    if marker not in _HEADERS
)


def may_hold_key(text: str) -> bool:
    """Return whether a text, or its form as a string of ASCII JSON, may hold a key; fast.

    It is never False where `without_keys` changes the text. It is True for few texts without a key,
    so that ordinary ones, such as those with a word like ``task-`` or ``high`` or the address of a
    server, are not searched string by string.
    """
    return (
        any(marker in text and _compiled(run).search(text) is not None for marker, run in _RUNS)
        or any(marker in text for marker in _HEADERS)
        or ("://" in text and _compiled(_USER_INFO).search(text) is not None)
    )


def without_keys(text: str) -> str:
    """Return the text with each key of a known shape replaced by BLOT.

    Example:
        >>> without_keys("key sk-proj-abcdefghijklmnop1234 was refused; so was sk-learn")
        'key [key] was refused; so was sk-learn'
    """
    for marker, shape in _SHAPES:
        if marker in text:
            text = _compiled(shape).sub(_blotted, text)
    return _compiled(_USER_INFO).sub("[credentials]", text) if "://" in text else text


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled: every session of pytest imports this module, few meet a key."""
    return re.compile(pattern)


def _blotted(found: re.Match[str]) -> str:
    """Return BLOT after what separates a header from its value."""
    return (found[1] if found.re.groups else "") + BLOT
