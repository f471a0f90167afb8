from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_llmeval.errors import TaskError
from pytest_llmeval.results.literature import load_literature
from pytest_llmeval.results.task_info import Published


def test_figures_come_with_their_source_and_the_datasets_they_belong_to(tmp_path: Path) -> None:
    file = tmp_path / "published.yaml"
    file.write_text(
        "datasets: {public.json: ab12, whole.json: {sha256: cd34, samples: 100}}\n"
        "figures:\n"
        "  - source: paper, table 4\n"
        "    values:\n"
        "      o3-high: {accuracy: 0.3458, EED published: 46.30}\n"
        "      Students: {accuracy: 0.619}\n"
    )
    found = load_literature(file)
    assert found.datasets == {"ab12": None, "cd34": 100}
    assert found.figures == (
        Published(name="o3-high", metric="accuracy", value=0.3458, source="paper, table 4"),
        Published(name="o3-high", metric="eed_published", value=46.3, source="paper, table 4"),
        Published(name="Students", metric="accuracy", value=0.619, source="paper, table 4"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("figure: []", "published.yaml:1: figure: unknown key; expected one of datasets, figures"),
        (
            "datasets: {a: {sha256: b}}",
            "datasets.a.samples: expected the number of samples, not None",
        ),
        ("datasets: {a: {sha256: b, samples: many}}", "datasets.a.samples: expected a number"),
        ("figures: {}", "published.yaml:1: figures: expected a list"),
        ("figures:\n  - values: {a: {accuracy: 1}}", "every figure needs its source"),
        (
            "figures:\n  - source: s\n    values:\n      a: {accuracy: 61.9}",
            "published.yaml:4: figures.0.values.a.accuracy",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "published.yaml"
    file.write_text(text)
    with pytest.raises(TaskError, match=re.escape(said)):
        load_literature(file)


def test_the_figures_of_phybench_can_be_read() -> None:
    found = load_literature(
        Path(__file__).parents[2] / "benchmarks" / "phybench" / "published.yaml"
    )
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in found.datasets)
    assert {figure.metric for figure in found.figures} == {"accuracy", "eed_published"}
    assert all(
        0 <= figure.value <= (1 if figure.metric == "accuracy" else 100) for figure in found.figures
    )
