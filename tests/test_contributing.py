"""CONTRIBUTING.md and its picture say what is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_the_picture_of_the_layers_is_drawn_from_the_contract() -> None:
    code = "import draw_layers; print(draw_layers.drawn(), end='')"
    drawn = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "docs" / "images",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    renew = "python docs/images/draw_layers.py"
    assert (ROOT / "docs" / "images" / "layers.svg").read_text("utf-8") == drawn, renew


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:\w+/)+[\w.]+)`", PAGE))))
def test_a_file_that_the_page_names_is_there(name: str) -> None:
    if "NAME" in name:
        return
    homes = (ROOT, ROOT / "pytest_llmeval")
    assert any((home / name).exists() for home in homes)


def test_the_table_of_folders_has_every_package() -> None:
    packages = {path.parent.name for path in (ROOT / "pytest_llmeval").glob("*/__init__.py")}
    assert packages == set(re.findall(r"^\| `(\w+)/` \|", PAGE, re.MULTILINE))
