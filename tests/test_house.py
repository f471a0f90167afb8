"""The rules of the house that imports alone do not show."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pytest_llmeval"

MATTER = re.compile(
    r"cypher|neo4j|arcadedb|\bscenes?\b|scene_|heracles|geometry3k|geometry|phybench|inter.?gps"
    r"|graph database|bolt://|visual_cot|auxiliary|(?-i:canvas)|taxonomy|physic",
    re.IGNORECASE,
)
"""Words of the benchmarks' own matter; `Canvas` is a colour of style sheets."""

FORMULAS = ("scoring/eed/",)
"""Where the source of the metric may be cited: the paper of a benchmark defines it."""


def generic_files() -> list[Path]:
    endings = {".py", ".js", ".css", ".jinja", ".lark"}
    files = [file for file in PACKAGE.rglob("*") if file.suffix in endings]
    return [file for file in files if "domains" not in file.relative_to(PACKAGE).parts]


def test_no_generic_file_names_a_benchmarks_matter() -> None:
    named = [
        f"{file.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for file in generic_files()
        if not str(file.relative_to(PACKAGE)).startswith(FORMULAS)
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if MATTER.search(line)
    ]
    assert named == []


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python before 3.11.5 matches such groups wrongly; single characters may be repeated so."""
    repeated = re.compile(r"\)(?:[*+?]|\{[0-9,]*\})\+")
    assert repeated.search(r"(?:a|b)*+")
    found = [
        str(file) for file in PACKAGE.rglob("*.py") if repeated.search(file.read_text("utf-8"))
    ]
    assert found == []


def test_the_search_would_find_the_matter_of_a_domain() -> None:
    domains = PACKAGE / "domains"
    found = [file for file in domains.rglob("*.py") if MATTER.search(file.read_text("utf-8"))]
    assert len(found) > len(list(domains.rglob("*.py"))) / 2
