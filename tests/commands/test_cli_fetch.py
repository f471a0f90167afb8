"""``llmeval fetch`` from a hub on loopback, and tasks over what it fetched."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
from pathlib import Path

import pytest
from servers.hub_server import hub

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "fixtures/geometry3k/images/001_hypotenuse.png"
ADDRESS = "hub://me/geometry/data/test.parquet@main"

TEST = """
import hashlib, pathlib, pytest

@pytest.mark.llmeval("task.yaml")
def test_it(sample):
    assert (sample.id, sample.input, sample.target) == ("0", "<image>Find x.", "13")
    [picture] = sample.images
    assert pathlib.Path(picture).read_bytes() == pathlib.Path(PICTURE).read_bytes()
""".replace("PICTURE", repr(str(PICTURE)))

TASK = f"""
name: geometry
dataset: {{path: {ADDRESS}, fields: {{id: null, input: problem, target: answer, images: [images]}}}}
prompt: "{{{{ input }}}}"
"""


def parquet() -> bytes:
    """Return a file in the hub's usual form: the pictures' bytes are in it."""
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("huggingface_hub")
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    images = [{"bytes": PICTURE.read_bytes(), "path": "1.png"}]
    table = pyarrow.Table.from_pylist(
        [{"images": images, "problem": "<image>Find x.", "answer": "13"}]
    )
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project of one task over a file on the hub; the hub's cache is the test's own."""
    pytest.importorskip("huggingface_hub")
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "test_it.py").write_text(TEST)
    for name in ("HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nothing listens there
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_dataset_is_fetched_once_and_then_serves_without_the_hub(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = parquet()
    pytest_command = ("pytest", "-q", "-p", "pytest_llmeval.plugin", "-p", "no:cacheprovider")
    before = run(folder, *pytest_command)
    assert f"{ADDRESS}: it was not fetched yet: llmeval fetch {ADDRESS}" in before.stdout
    with hub({"datasets/me/geometry/resolve/main/data/test.parquet": data}) as endpoint:
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        done = run(folder, "pytest_llmeval", "fetch", "task.yaml")
    assert done.returncode == 0, done.stderr
    assert f"{len(data):,} bytes, sha256 {hashlib.sha256(data).hexdigest()}" in done.stdout
    after = run(folder, *pytest_command, f"--llmeval-set=geometry.dataset.path={ADDRESS}")
    assert "1 passed" in after.stdout, after.stdout + after.stderr


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "hub://me/algebra/test.parquet@main",
            "no such dataset, or it is private or gated: set HF_TOKEN",
        ),
        ("hub://me/geometry/test.parquet@v2", "the dataset has no such revision"),
        ("hub://me/geometry/none.parquet@main", "the dataset has no such file in this revision"),
        (
            "hub://me/geometry/none.parquet",
            "is not an address on the hub; expected hub://OWNER/NAME/FILE@REVISION",
        ),
        ("other.yaml", "other.yaml: its dataset is no file on the hub, but 'rows.yaml'"),
    ],
)
def test_what_cannot_be_fetched_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str
) -> None:
    (folder / "other.yaml").write_text("dataset: {path: rows.yaml}\n")
    with hub({"datasets/me/geometry/resolve/main/test.parquet": b"PAR1"}) as endpoint:
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        done = run(folder, "pytest_llmeval", "fetch", source)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_hub_that_cannot_be_reached_is_told(folder: Path) -> None:
    done = run(folder, "pytest_llmeval", "fetch", ADDRESS)
    assert done.returncode == 2
    assert f"{ADDRESS}: the hub cannot be reached: " in done.stderr


PUBLISHED = """
datasets:
  other.jsonl: {SHA}
  rows.jsonl: {{sha256: {SHA}, samples: 1, source: "{ADDRESS}"}}
figures: [{{source: our paper, values: {{someone: {{accuracy: 0.5}}}}}}]
"""
ROWS = b'{"id": 1, "q": "1+1?", "a": "2"}\n'
REVISION = "89abcdef0123456789abcdef0123456789abcdef"
PINNED = f"hub://me/sums/rows.jsonl@{REVISION}"
SUMS = """
name: sums
dataset: {path: ours.jsonl, fields: {input: q, target: a}}
prompt: "{{ input }}"
scorer: number
published: published.yaml
"""
SUMS_TEST = """
import pytest
from pytest_llmeval import assert_correct

@pytest.mark.llmeval("sums.yaml")
def test_sums(sample, completion):
    assert_correct(sample, completion)
"""


@pytest.fixture
def sums(folder: Path) -> Path:
    """Return a project whose task has a dataset of its own, and a public one on the hub."""
    digest = hashlib.sha256(ROWS).hexdigest()
    (folder / "sums.yaml").write_text(SUMS)
    (folder / "published.yaml").write_text(PUBLISHED.format(SHA=digest, ADDRESS=PINNED))
    (folder / "ours.jsonl").write_text('{"id": 7, "q": "3+3?", "a": "6"}\n')
    (folder / "test_it.py").write_text(SUMS_TEST)
    (folder / "model.py").write_text("def two(request):\n    return '2'\n")
    return folder


def test_the_public_dataset_of_a_task_is_fetched_as_pinned_and_shown_with_its_figures(
    sums: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub({f"datasets/me/sums/resolve/{REVISION}/rows.jsonl": ROWS}) as endpoint:
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        done = run(sums, "pytest_llmeval", "fetch", "sums.yaml")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    option = f"--llmeval-set sums.dataset.path={PINNED}"
    assert done.returncode == 0, done.stderr
    assert f"  {option}\n" in done.stdout
    model = ("--llmeval-model", "python/./model.py:two")
    plugin = ("pytest", "-q", "-p", "pytest_llmeval.plugin", "-p", "no:cacheprovider", *model)
    public = run(sums, *plugin, *option.split(), "--llmeval-groups")
    assert "1 passed" in public.stdout, public.stdout + public.stderr
    assert "someone" in public.stdout
    assert "demo data" not in public.stdout
    ours = run(sums, *plugin)
    assert "1 failed" in ours.stdout
    assert "demo data" in ours.stdout


def test_other_bytes_than_the_pinned_ones_are_refused(
    sums: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = ROWS.replace(b"2", b"3")
    with hub({f"datasets/me/sums/resolve/{REVISION}/rows.jsonl": changed}) as endpoint:
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        done = run(sums, "pytest_llmeval", "fetch", "sums.yaml")
    assert done.returncode == 2
    assert f"{PINNED}: its bytes are not the published ones" in done.stderr
    assert hashlib.sha256(changed).hexdigest() in done.stderr
