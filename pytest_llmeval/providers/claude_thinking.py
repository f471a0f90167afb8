"""How much a Claude model thinks, as Anthropic and Bedrock take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_llmeval.records import Json

_EFFORTS: Final[Mapping[str, str]] = {
    "minimal": "low",
    **{effort: effort for effort in ("low", "medium", "high", "xhigh", "max")},
}


def claude_thinking(effort: Json) -> tuple[Json, dict[str, Json]]:
    """Return the field ``thinking``, and what stands about the effort beside it.

    Args:
        effort: the parameter ``reasoning_effort``.

    Raises:
        ValueError: there is no such effort.
    """
    if effort == "none":
        return {"type": "disabled"}, {}
    if not isinstance(effort, str) or effort not in _EFFORTS:
        msg = f"reasoning_effort is {effort!r}; expected one of none, {', '.join(_EFFORTS)}"
        raise ValueError(msg)
    return {"type": "adaptive", "display": "summarized"}, {"effort": _EFFORTS[effort]}
