"""Variants of a task read their dataset once, and have the samples and errors of their own keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.errors import LLMEvalError, TaskError
from pytest_llmeval.records import Sample
from pytest_llmeval.task import load_task
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.samples import read_samples

ROWS = [
    {"id": n, "input": f"{n}?", "target": target, "kind": "odd" if n % 2 else "even"}
    for n, target in enumerate(["2", "3", "4", "a lot", "6"])
]
DIFFERENCES: dict[str, dict[str, object]] = {
    "prompt": {"prompt": "Briefly: {{ input }}"},
    "generate": {"generate": {"temperature": 1}},
    "scorer": {"scorer": "includes"},
    "wrong scorer": {"scorer": "number"},  # it cannot use "a lot"
    "keep": {"dataset": {"keep": "target != 'a lot'"}},
    "keep and scorer": {"dataset": {"keep": "target != 'a lot'"}, "scorer": "number"},
    "groups": {"group_by": ["kind"]},
    "tags": {"dataset": {"fields": {"tags": ["kind"]}}},
}


def write(folder: Path, **variants: object) -> Path:
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    task = {
        "name": "sums",
        "dataset": {"path": "rows.jsonl"},
        "prompt": "{{ input }}",
        "scorer": "exact",
        "variants": variants,
    }
    file = folder / "task.yaml"
    file.write_text(json.dumps(task))
    return file


def found(catalog: Catalog, address: Path) -> tuple[Sample, ...] | str:
    """Return the samples at an address, or the error of reading them."""
    try:
        return tuple(catalog.load(address).samples)
    except LLMEvalError as error:
        return str(error)


def read_alone(address: Path, limit: int | None) -> tuple[Sample, ...] | str:
    """Return what a task finds that shares nothing."""
    try:
        return tuple(read_samples(load_task(address), limit=limit))
    except LLMEvalError as error:
        return str(error)


@settings(max_examples=30)
@given(
    names=st.lists(st.sampled_from(sorted(DIFFERENCES)), min_size=1, unique=True),
    limit=st.sampled_from([None, 2]),
)
def test_every_variant_has_the_samples_and_the_error_that_it_would_read_alone(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], limit: int | None
) -> None:
    folder = tmp_path_factory.mktemp("variants")
    variants = {name.replace(" ", "-"): DIFFERENCES[name] for name in names}
    file = write(folder, plain={}, **variants)
    catalog = Catalog(folder=folder, limit=limit)
    for address in catalog.addresses(file):
        assert found(catalog, address) == read_alone(address, limit)


def test_variants_that_would_read_the_same_share_it(tmp_path: Path) -> None:
    names = ("prompt", "generate", "scorer")
    file = write(tmp_path, plain={}, **{name: DIFFERENCES[name] for name in names})
    catalog = Catalog(folder=tmp_path)
    first, *others = [catalog.load(address) for address in catalog.addresses(file)]
    assert all(other.read is first.read for other in others)


def test_a_refused_target_is_told_with_its_row_also_behind_a_variant_that_could_use_it(
    tmp_path: Path,
) -> None:
    file = write(tmp_path, plain={}, wrong=DIFFERENCES["wrong scorer"])
    catalog = Catalog(folder=tmp_path)
    plain, wrong = catalog.addresses(file)
    assert len(catalog.load(plain).samples) == len(ROWS)
    with pytest.raises(TaskError, match=r"rows\.jsonl:4: target: .*a lot"):
        catalog.load(wrong)
