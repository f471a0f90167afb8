"""The answer that follows from a query's rows, put into SLDP by rule.

This is what the refining model would have to do.
"""

from __future__ import annotations

import json
from typing import Any

from neo4j.spatial import Point


def sldp_from_rows(rows: list[list[Any]], solution: str) -> str:
    """Return the rows as SLDP in the form (set, list, dict, one value) that `solution` has."""
    match solution[0]:
        case "<":
            return f"<{', '.join(_column(rows))}>"
        case "[":
            return f"[{', '.join(_column(rows))}]"
        case "{":
            return f"{{{', '.join(f'{_value(key)}: {_value(value)}' for key, value in rows)}}}"
        case _:
            return _value(rows[0][0])


def _column(rows: list[list[Any]]) -> list[str]:
    """Return the first column, or the elements of its one list."""
    cells = [row[0] for row in rows]
    if len(cells) == 1 and isinstance(cells[0], list):
        cells = cells[0]
    return [_value(cell) for cell in cells]


def _value(value: Any) -> str:
    match value:
        case Point():
            return f"POINT({' '.join(f'{part:.6f}' for part in value)})"
        case list():
            return f"<{', '.join(map(_value, value))}>"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return f"{value:.6f}"
