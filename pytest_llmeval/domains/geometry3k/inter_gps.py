"""The public Geometry3K data as Inter-GPS unpacks them: a folder for each problem."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.task.json_text import read_json
from pytest_llmeval.task.row_place import Columns, RowPlace

PROBLEM: Final = "data.json"
DIAGRAM: Final = "img_diagram.png"
"""Files of a problem's folder."""

LETTERS: Final = "ABCDEFGH"
"""Names of the choices, in order."""


class InterGps:
    """Reads a folder of ``NUMBER/data.json`` and ``NUMBER/img_diagram.png``: a `DatasetReader`."""

    def accepts(self, folder: Path) -> bool:
        """Return whether the folder holds such problems."""
        return bool(self.files(folder))

    def files(self, folder: Path) -> list[Path]:
        """Return the files ``NUMBER/data.json``, by number."""
        files = [file for file in folder.glob(f"*/{PROBLEM}") if file.parent.name.isdecimal()]
        return sorted(files, key=lambda file: int(file.parent.name))

    def rows(self, folder: Path) -> Iterator[tuple[RowPlace, Columns]]:
        """Yield the problems in the order of their numbers.

        A row has the keys of data.json, and in addition `id` (the number), `images` (the diagram's
        path in the folder) and `answer_text` (the choice that the letter in `answer` stands for).

        Raises:
            TaskError: a file cannot be read, or its answer is no letter of a choice.
        """
        for number, file in enumerate(self.files(folder), 1):
            place = RowPlace(file, None, number)
            row = read_json(file)
            if not isinstance(row, dict):
                raise place.error(None, f"is a {type(row).__name__}, not a mapping")
            name = file.parent.name
            given = {"id": int(name), "images": [f"{name}/{DIAGRAM}"]}
            yield place, {**row, **given, "answer_text": _chosen_text(place, row)}


def _chosen_text(place: RowPlace, row: dict[str, Any]) -> str:
    """Return the choice that a problem's letter stands for."""
    letter, choices = row.get(column := "answer"), row.get("choices")
    if not isinstance(choices, list) or letter not in list(LETTERS[: len(choices)]):
        problem = f"is {letter!r}, not the letter of one of the choices {choices!r}"
        raise place.error(column, problem)
    return str(choices[LETTERS.index(letter)])
