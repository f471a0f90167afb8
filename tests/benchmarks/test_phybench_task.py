"""The PHYBench task: the paper's prompt and settings, our problems and the public release."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.benchmark_session import ROOT, run_pytest

from pytest_llmeval.results.literature import load_literature
from pytest_llmeval.scoring.eed.scorer import EedScorer
from pytest_llmeval.task import load_task
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.samples import read_samples

FILE = ROOT / "benchmarks" / "phybench" / "phybench.yaml"
PUBLISHED: dict[str, Any] = yaml.safe_load(FILE.with_name("published.yaml").read_text("utf-8"))


def test_the_task_asks_scores_and_samples_as_the_paper_does() -> None:
    task = load_task(FILE)
    assert task.generate == {"temperature": 0.6, "top_p": 0.95, "max_tokens": 32768}
    assert task.answer == "boxed_first"
    assert [(one.scorer, one.decides) for one in task.scorers] == [
        (EedScorer(mode="corrected", minimum=100), True),
        (EedScorer(name="EED published", mode="published"), False),
    ]


def test_the_prompt_holds_the_problem_and_neither_its_solution_nor_its_answer() -> None:
    task = load_task(FILE)
    sample = read_samples(task)[0]
    (message,) = render(task, "generate", sample, (), {})
    assert message.role == "user"
    assert message.text == (
        "You are a physics expert. Please read the following question and provide a step-by-step "
        "solution. Put your final answer, which must be a readable LaTeX formula, in a \\boxed{} "
        "environment.\n"
        f"Question: {sample.input}\nAnswer:"
    )
    assert sample.target_text not in message.text
    solution = sample.metadata["solution"]
    assert isinstance(solution, str)
    assert solution not in message.text


def test_the_demo_reads_our_48_problems_with_tag_and_difficulty() -> None:
    samples = read_samples(load_task(FILE))
    assert len(samples) == 48
    assert samples[0].tags == ("MECHANICS",)
    assert samples[0].metadata["difficulty"] == "medium"


@pytest.mark.parametrize("name", PUBLISHED["datasets"])
def test_the_public_files_give_100_samples_and_are_the_ones_the_figures_belong_to(
    shared: Path, name: str
) -> None:
    file = shared / "data" / "phybench" / name
    samples = read_samples(load_task(FILE, {"dataset.path": str(file)}))
    assert len(samples) == 100
    assert sum("MECHANICS" in sample.tags for sample in samples) == 39
    assert hashlib.sha256(file.read_bytes()).hexdigest() == PUBLISHED["datasets"][name]["sha256"]


def test_the_public_release_is_collected_as_100_tests_of_which_8_are_optics(shared: Path) -> None:
    release = shared / "data" / "phybench" / "PHYBench-fullques_v1.json"
    public = f"--llmeval-set=phybench.dataset.path={release}"
    assert "100 tests collected" in collected(public)
    assert "8/100 tests collected" in collected(public, "-k", "optics")


def collected(*options: str) -> str:
    """Return what pytest says of the benchmark's collection, in a process of its own."""
    done = run_pytest(FILE.parent, "--collect-only", "-q", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_published_figures_are_read_with_their_sources_and_scales() -> None:
    literature = load_literature(FILE.with_name("published.yaml"))
    assert literature.datasets == {
        public["sha256"]: 100 for public in PUBLISHED["datasets"].values()
    }
    assert {figure.metric for figure in literature.figures} == {"accuracy", "eed_published"}
    assert all(figure.source.startswith("arXiv 2504.16074") for figure in literature.figures)
    accuracies = [figure.value for figure in literature.figures if figure.metric == "accuracy"]
    assert len(accuracies) == 5 + 14 + 2  # public problems, all problems, students
    assert max(accuracies) < 1
