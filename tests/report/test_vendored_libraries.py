"""The libraries of the page: as they were published, named with version and licence."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

import pytest_llmeval.report

FOLDER = Path(pytest_llmeval.report.__file__).parent / "templates" / "vendor"
LINE = re.compile(r"\| `(\S+)` \| (\S+) (\S+) \| `\S+` \| (\S+) \| `([0-9a-f]{64})` \|")
LISTED = LINE.findall((FOLDER / "README.md").read_text("utf-8"))


def test_every_library_is_listed() -> None:
    assert sorted(line[0] for line in LISTED) == sorted(one.name for one in FOLDER.glob("*.js"))


@pytest.mark.parametrize("line", LISTED, ids=[line[1] for line in LISTED])
def test_a_library_is_the_published_file_beside_its_licence(line: tuple[str, ...]) -> None:
    file, _, _, _, digest = line
    assert hashlib.sha256((FOLDER / file).read_bytes()).hexdigest() == digest
    licence = FOLDER / file.replace(".min.js", ".LICENSE.txt")
    assert "Copyright (c)" in licence.read_text("utf-8")


@pytest.mark.parametrize("line", LISTED, ids=[line[1] for line in LISTED])
def test_a_library_neither_ends_the_script_nor_evaluates_texts(line: tuple[str, ...]) -> None:
    text = (FOLDER / line[0]).read_text("utf-8").lower()
    for sign in ("</script", "<script", "eval(", "new function", "import("):
        assert sign not in text
