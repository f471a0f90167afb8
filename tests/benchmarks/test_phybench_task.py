"""The PHYBench task: the paper's prompt and settings, our problems by default, the public release on request."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.datasets import read_samples
from pytest_llmeval.prompts import render
from pytest_llmeval.task import EedScorer, load_task

FILE = Path(__file__).parents[2] / "benchmarks" / "phybench" / "phybench.yaml"
PUBLISHED: dict[str, Any] = yaml.safe_load(FILE.with_name("published.yaml").read_text("utf-8"))
FIGURES = {name: values for part in PUBLISHED["figures"] for name, values in part["values"].items()}


def test_the_task_asks_scores_and_samples_as_the_paper_does() -> None:
    task = load_task(FILE)
    assert task.generate == {"temperature": 0.6, "top_p": 0.95, "max_tokens": 32768}
    assert task.answer == "boxed_first"
    assert task.scorer == EedScorer(mode="corrected", minimum=100, also="published")


def test_the_prompt_holds_the_problem_and_neither_its_solution_nor_its_answer() -> None:
    task = load_task(FILE)
    sample = read_samples(task)[0]
    (message,) = render(task, "generate", sample, (), {})
    assert message.role == "user"
    assert message.text.startswith("You are a physics expert.")
    assert r"in a \boxed{} environment." in message.text
    assert message.text.endswith(f"\nQuestion: {sample.input}\nAnswer:")
    assert sample.target not in message.text
    assert sample.metadata["solution"] not in message.text


def test_the_demo_reads_our_48_problems_with_tag_and_difficulty() -> None:
    samples = read_samples(load_task(FILE))
    assert len(samples) == 48
    assert samples[0].tags == ("MECHANICS",)
    assert samples[0].metadata["difficulty"] == "medium"


@pytest.mark.parametrize("name", PUBLISHED["datasets"])
def test_the_public_files_give_100_samples_and_are_the_ones_the_figures_belong_to(shared: Path, name: str) -> None:
    file = shared / "data" / "phybench" / name
    samples = read_samples(load_task(FILE, {"dataset.path": file}))
    assert len(samples) == 100
    assert sum("MECHANICS" in sample.tags for sample in samples) == 39
    assert hashlib.sha256(file.read_bytes()).hexdigest() == PUBLISHED["datasets"][name]


def test_every_published_figure_names_its_source_and_keeps_its_scale() -> None:
    assert all(part["source"].startswith("arXiv 2504.16074") for part in PUBLISHED["figures"])
    assert all(values.keys() <= {"accuracy", "eed_published"} for values in FIGURES.values())
    assert all(0 < values["accuracy"] < 1 for values in FIGURES.values())
    assert all(1 < values.get("eed_published", 50) < 100 for values in FIGURES.values())
