"""Parts scored on the nodes of a Ray cluster, by Ray Data over a pool of actors.

The only module here that imports ray. Nodes read the table from a file system that they share, and
send scores back; the output and its parts are written by the process that began. Ray Data scores
the parts of a lost node again on others.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import ray
import ray.data
from ray.exceptions import RayError

from pytest_llmeval.bulk.job import graders
from pytest_llmeval.bulk.local import PartsToScore
from pytest_llmeval.bulk.node import PartScoring, ScoredPart
from pytest_llmeval.bulk.part_folder import Part
from pytest_llmeval.errors import RunStopped, UsageError

_REACHED_WITHIN: Final = 10.0
"""Seconds in which the head of a cluster is reached, or there is none."""


def scored_on_cluster(
    work: PartsToScore, address: str, advance: Callable[[int], None]
) -> Iterator[tuple[Part, pa.Table]]:
    """Yield each part with its scores as soon as it is done, in any order.

    Args:
        work: the parts.
        address: of the cluster's head, ``HOST:PORT``; ``auto``: the one that this machine is in.
        advance: called with a number of rows whenever so many more are scored.

    Raises:
        UsageError: there is no cluster, or a node cannot score.
        RunStopped: the cluster is lost.
    """
    parts = {part.number: part for part in work.parts}
    with _connected(address):
        try:
            for row in _scores(work).iter_rows():
                part = parts[row["number"]]
                scores = ScoredPart(part.number, row["scores"], row["problem"]).table()
                advance(part.rows)
                yield part, scores
        except RayError as error:
            msg = (
                f"--ray {address}: the cluster failed: {_first_line(error)}; run the same command "
                "again, which goes on with the parts that are done"
            )
            raise RunStopped(msg) from error


def _scores(work: PartsToScore) -> ray.data.Dataset:
    """Return the dataset of scored parts, which is computed while it is read."""
    figures = [
        {"number": part.number, "first": part.first, "rows": part.rows} for part in work.parts
    ]
    actors = max(1, min(len(figures), int(ray.cluster_resources().get("CPU", 1))))
    return ray.data.from_items(figures, override_num_blocks=len(figures)).map_batches(
        PartScoring,
        fn_constructor_args=(replace(work, parts=()), graders(work.job)),
        batch_size=1,
        # The pool may be smaller than the cluster was: a lost node has lost its actors too.
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=actors, initial_size=actors),
        num_cpus=1,
    )


@contextmanager
def _connected(address: str) -> Iterator[None]:
    """Connect to a cluster for the block, unless this process is connected already."""
    _silence()
    if ray.is_initialized():
        yield
        return
    try:
        _check_reached(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (RayError, OSError, RuntimeError, ValueError) as error:
        msg = (
            f"--ray {address}: there is no cluster: {_first_line(error)}; start one by "
            "`ray start --head`, or name the address of its head, HOST:PORT"
        )
        raise UsageError(msg) from None
    try:
        yield
    finally:
        ray.shutdown()


def _check_reached(address: str) -> None:
    """Raise OSError or ValueError unless something listens there; ray itself waits for minutes."""
    if address != "auto":
        host, _, port = address.rpartition(":")
        socket.create_connection((host, int(port)), timeout=_REACHED_WITHIN).close()


def _silence() -> None:
    """Turn off Ray Data's progress and logging; its errors are raised as ours."""
    context: Any = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    # Ray's own C++ logs to standard error; it warns of things that Ray Data does on purpose.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
