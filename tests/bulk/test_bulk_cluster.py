"""A real Ray cluster of several nodes scores the same bytes, also when a node is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bulk.tables import job, read, score, write

from pytest_llmeval.bulk.run import BulkRun
from pytest_llmeval.errors import UsageError
from pytest_llmeval.report.progress_line import Progress

ray = pytest.importorskip("ray", reason="needs the extra scale")

from ray.cluster_utils import Cluster  # noqa: E402 - where ray is installed

from pytest_llmeval.bulk.cluster import scored_on_cluster  # noqa: E402 - as above

# Ray's own: sockets that it leaves to the interpreter, and names that it deprecates in itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(600),
]

ROWS = 400
MEMORY = 100 * 2**20

WAITING = """
import time

def waiting(answer, sample):
    with open(f"{__file__}.ledger", "a") as ledger:
        ledger.write(f"{sample.id}\\n")
    time.sleep(0.02)
    return answer == sample.target
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Return a cluster of two nodes, whose head has no processor and so no work."""
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    found = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        found.add_node(num_cpus=1, object_store_memory=MEMORY)
    yield found
    ray.shutdown()
    found.shutdown()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a folder of two files with uneven row groups, beside a scorer that waits."""
    (tmp_path / "own.py").write_text(WAITING)
    folder = tmp_path / "in"
    folder.mkdir()
    for name, begin, end in (("a", 0, 130), ("b", 130, ROWS)):
        columns = {
            "answer": [None if n % 11 == 0 else str(n % 5) for n in range(begin, end)],
            "target": ["3"] * (end - begin),
            "kept": [f"row {n}" for n in range(begin, end)],
        }
        write(folder / f"{name}.parquet", columns, row_group_size=57)
    return folder


def on_cluster(cluster: Any, source: Path, out: Path, show: Any = lambda _: None) -> Any:
    run = BulkRun.open(source, [], job(source.parent, "./own.py:waiting"), out, 20)
    return run.score(lambda work, advance: scored_on_cluster(work, cluster.address, advance), show)


def here(source: Path, name: str) -> bytes:
    """Return the output that this machine alone writes, with other parts."""
    out = source.parent / name
    score(source, job(source.parent, "./own.py:waiting"), out, part_rows=33, processes=2)
    return out.read_bytes()


def test_the_nodes_of_a_cluster_write_the_bytes_of_one_machine(
    cluster: Any, tmp_path: Path, table: Path
) -> None:
    tallies = on_cluster(cluster, table, tmp_path / "out.parquet")
    assert tallies["waiting"].rows == ROWS
    assert (tmp_path / "out.parquet").read_bytes() == here(table, "whole.parquet")


def test_a_node_that_is_killed_half_way_costs_no_row(
    cluster: Any, tmp_path: Path, table: Path
) -> None:
    doomed = cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
    cluster.wait_for_nodes()
    lost: list[Any] = []

    def kill_one(progress: Progress) -> None:
        if progress.done >= ROWS // 3 and not lost:
            lost.append(doomed)
            cluster.remove_node(doomed, allow_graceful=False)

    on_cluster(cluster, table, tmp_path / "out.parquet", kill_one)
    assert lost
    rows = read(tmp_path / "out.parquet")
    assert [row["kept"] for row in rows] == [f"row {n}" for n in range(ROWS)]
    assert not [row for row in rows if row["waiting.error"]]
    scored = (tmp_path / "own.py.ledger").read_text().split()
    assert set(scored) == set(map(str, range(ROWS)))
    # Of the lost node at most the parts that it had in work, or done and not yet sent.
    assert len(scored) <= ROWS + 6 * 20
    assert (tmp_path / "out.parquet").read_bytes() == here(table, "whole.parquet")


def test_a_scoring_that_was_killed_on_a_cluster_goes_on_on_one_machine(
    cluster: Any, tmp_path: Path, table: Path
) -> None:
    words = ("score", str(table), "--scorer", "./own.py:waiting", "--out", "out.parquet")
    command = [sys.executable, "-m", "pytest_llmeval", *words, "--part-rows", "20"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    parts = tmp_path / "out.parquet.parts"
    with subprocess.Popen(
        [*command, "--ray", cluster.address], cwd=tmp_path, start_new_session=True, **quiet
    ) as process:
        deadline = time.monotonic() + 120
        while len(list(parts.glob("part-*"))) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    done = len(list(parts.glob("part-*.parquet")))
    assert 5 <= done < ROWS / 20
    (tmp_path / "own.py.ledger").unlink()
    subprocess.run(command, cwd=tmp_path, check=True, **quiet)
    assert (tmp_path / "out.parquet").read_bytes() == here(table, "whole.parquet")


def test_a_node_that_cannot_score_is_one_error_that_names_it(
    cluster: Any, tmp_path: Path, table: Path
) -> None:
    run = BulkRun.open(table, [], job(tmp_path, "./own.py:waiting"), tmp_path / "out.parquet", 20)
    (tmp_path / "in" / "b.parquet").rename(tmp_path / "away.parquet")

    def on_nodes(work: Any, advance: Any) -> Any:
        return scored_on_cluster(work, cluster.address, advance)

    from pytest_llmeval.bulk.local import PartsToScore  # noqa: PLC0415 - for this test alone
    from pytest_llmeval.bulk.part_folder import parts_of  # noqa: PLC0415

    work = PartsToScore(run.table, run.fields, run.job, tuple(parts_of(ROWS, 20)))
    with pytest.raises(UsageError, match=r"node \S+: .*b\.parquet: cannot be read: No such file"):
        list(on_nodes(work, lambda _: None))


def test_no_cluster_is_one_error_with_the_fix(tmp_path: Path, table: Path) -> None:
    words = ("score", str(table), "--scorer", "exact", "--out", "out.parquet", "--ray")
    done = subprocess.run(
        [sys.executable, "-m", "pytest_llmeval", *words, "127.0.0.1:9"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("llmeval: --ray")]
    assert "there is no cluster" in error
    assert "ray start --head" in error
