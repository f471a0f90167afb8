"""A judge's reply: a text is a verdict exactly if its one JSON object is the demanded one.

The check has a reader of its own: JSON's grammar, of which only whole numbers and strings matter,
because a value of any other kind makes a reply unusable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml
from fuzz.json_mutation import mutated
from fuzz.target import Target, bytes_of, text_of

from pytest_llmeval.records import Verdict
from pytest_llmeval.scoring.judge.label_scale import LabelScale
from pytest_llmeval.scoring.judge.rating_scale import RatingScale
from pytest_llmeval.scoring.judge.reply import REASON_LIMIT, REPLY_LIMIT
from pytest_llmeval.scoring.judge.rubric import Rubric
from pytest_llmeval.scoring.judge.scale import Scale
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

CASES = Path(__file__).parents[2] / "scoring" / "judge" / "verdicts.yaml"

RATING = RatingScale(low=1, high=10, minimum=7)
CRITERIA = (("accuracy", "Is it true?"), ("style", "Is it clear?"))
SCALES: tuple[Scale, ...] = (
    VerdictScale(),
    RATING,
    LabelScale(labels=("yes", "no"), correct=("yes",)),
    Rubric(wanted=CRITERIA, scale=RATING),
)

BLANK = r"[ \t\n\r]*"
STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
PAIR = re.compile(rf"{BLANK}({STRING}){BLANK}:{BLANK}({STRING}|-?(?:0|[1-9][0-9]*)){BLANK}")
ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))"
)
NAMED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
FENCE = "```"


def check(data: bytes) -> None:
    """Read a reply on the scale that the first byte names."""
    scale, reply = SCALES[data[0] % len(SCALES) if data else 0], text_of(data[1:])
    found, wanted = scale.read(reply), demanded(reply, scale)
    if wanted is None:
        assert found is None, "what is not the demanded object is a verdict"
        return
    assert isinstance(found, Verdict), "the demanded object is no verdict"
    kept = wanted[:REASON_LIMIT].encode("utf-8", "replace").decode("utf-8")
    assert found.reason == kept, "the reason is another"


def demanded(reply: str, scale: Scale) -> str | None:
    """Return the reason in a reply that is the demanded object; None if it is another text."""
    text = reply.strip("\ufeff \t\r\n")
    if len(text) > REPLY_LIMIT:
        return None
    members = members_of(unfenced(text))
    if members is None or members.keys() != scale.properties.keys():
        return None
    for key, value in members.items():
        schema = scale.properties[key]
        assert isinstance(schema, dict)
        allowed = schema.get("enum")
        if not isinstance(value, str if allowed is None else str | int):
            return None
        if isinstance(allowed, list) and not any(
            type(value) is type(one) and value == one for one in allowed
        ):
            return None
    reason = members["reason"]
    return reason if isinstance(reason, str) else None


def unfenced(text: str) -> str:
    """Return what stands in a fence, if the whole text is one."""
    head, line_end, rest = text.partition("\n")
    inside, last_line_end, tail = rest.rpartition("\n")
    opened = head.removesuffix("\r").rstrip(" \t") if head.startswith(FENCE) else ""
    is_fence = opened in {FENCE, f"{FENCE}json"} or opened.lower() == f"{FENCE}json"
    closed = tail.lstrip(" \t") == FENCE
    return inside if is_fence and line_end and last_line_end and closed else text


def members_of(text: str) -> Mapping[str, str | int] | None:
    """Return the members of an object of strings and whole numbers, each key once; else None."""
    inner = text.strip(" \t\n\r")
    if not (inner.startswith("{") and inner.endswith("}")):
        return None
    members: dict[str, str | int] = {}
    place, end = 1, len(inner) - 1
    while True:
        pair = PAIR.match(inner, place, end)
        if pair is None:
            return None
        key, value = plain(pair[1]), pair[2]
        if key in members:
            return None
        # A number of many digits is allowed nowhere.
        members[key] = plain(value) if value[0] == '"' else int(value[:40])
        place = pair.end()
        if place == end:
            return members
        if inner[place] != ",":
            return None
        place += 1


def plain(string: str) -> str:
    """Return the text of a JSON string; two escapes of a surrogate pair are one character."""
    return ESCAPE.sub(_character, string[1:-1])


def _character(escape: re.Match[str]) -> str:
    high, low, single, named = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    return chr(int(single, 16)) if single else NAMED.get(named, named)


def seeds() -> Iterator[bytes]:
    """Yield the replies of the tests, and one on each scale."""
    for case in yaml.safe_load(CASES.read_text("utf-8")):
        if len(case["reply"]) < 1_000:
            yield b"\0" + bytes_of(case["reply"])
    yield b'\1{"reason": "why", "rating": 7}'
    yield b'\2{"reason": "why", "label": "yes"}'
    yield b'\3```json\n{"accuracy": 1, "style": 10, "reason": "\\ud83d\\ude00"}\n```'


TARGET = Target(
    check=check,
    seeds=seeds,
    mutate=mutated,
    words=(
        *('"answer_correct"', '"reason"', '"rating"', '"label"', '"accuracy"', '"style"'),
        *('"yes"', '"no"', "0", "1", "-0", "1.0", "true", "NaN", "```", "json", "JSON", "\u017f"),
        *("\ufeff", "\\u0061", "\\ud83d", "\\ude00", "{", "}", ",", ":"),
    ),
)
