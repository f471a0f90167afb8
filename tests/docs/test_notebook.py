"""docs/notebooks: the notebook runs on an example's recorded replies, and shows what it prints."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))

for needed in ("nbclient", "ipykernel", "pandas", "matplotlib"):
    pytest.importorskip(needed)

import make_runs  # noqa: E402 - beside the notebook
import nbformat  # noqa: E402 - may be absent


@pytest.fixture(scope="module")
def fresh(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    reports = tmp_path_factory.mktemp("reports")
    make_runs.run_example(reports, warm_python)
    return make_runs.executed(reports)


@pytest.fixture(scope="module")
def stored() -> Any:
    return nbformat.read(NOTEBOOKS / "runs.ipynb", as_version=4)


def shown(notebook: Any) -> Iterator[tuple[str, str]]:
    """Yield what each cell prints, and of a figure its texts; forms of other media aside."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/svg+xml" in data:
                texts = re.findall(r"<text[^>]*>([^<]*)</text>", data["image/svg+xml"])
                yield cell.id, "\n".join(texts)
            else:
                yield cell.id, output.get("text") or data["text/plain"]


def test_the_notebook_shows_what_its_cells_print_today(fresh: Any, stored: Any) -> None:
    assert [cell.source for cell in stored.cells] == list(make_runs.CELLS)
    assert list(shown(stored)) == list(shown(fresh))


def test_every_cell_of_code_shows_something_and_none_fails(fresh: Any) -> None:
    kinds = [[one.output_type for one in cell.outputs] for cell in fresh.cells if "outputs" in cell]
    assert [] not in kinds
    assert not {"error"} & {kind for found in kinds for kind in found}
