"""The 579 reference cases, where they are at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_llmeval.scoring.sldp import (
    DictValue,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    SldpSyntaxError,
    StringValue,
    Value,
    parse_sldp,
    sldp_equals,
)


def plain(value: Value) -> Any:
    match value:
        case NumberValue():
            return float(value.number)
        case StringValue():
            return value.text
        case PointValue():
            return ["point", *map(float, value.coordinates)]
        case ListValue():
            return ["list", *map(plain, value.elements)]
        case SetValue():
            return ["set", *map(plain, value.elements)]
        case DictValue():
            return ["dict", *(["pair", plain(key), plain(item)] for key, item in value.entries)]


def parsed(text: str) -> Value | None:
    try:
        return parse_sldp(text)
    except SldpSyntaxError:
        return None


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    first = parsed(case["a"])
    if case["kind"] == "parse":
        return {"valid": False} if first is None else {"valid": True, "value": plain(first)}
    second = parsed(case["b"])
    if first is None or second is None:
        return {"error": f"malformed side: {'a' if first is None else 'b'}"}
    return {"equal": sldp_equals(first, second)}


def test_every_reference_case_comes_out_as_decided(shared: Path) -> None:
    lines = (shared / "conformance" / "sldp.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    wrong = [
        (case["id"], case["a"], outcome(case))
        for case in cases
        if outcome(case) != case["expected"]
    ]
    assert len(cases) == 579
    assert wrong == []
