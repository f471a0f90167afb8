"""The child process that scores rows; see `bulk.children`.

A request (see `files.child_pool`) is a JSON list of `Row`; each row has a reply, the JSON list of
its `Found`. The argument is the JSON of the `Job`. The process limits its own processor time and
memory, and ends with its standard input, also in the middle of a row.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import BinaryIO

import msgspec

from pytest_llmeval.bulk.job import Job
from pytest_llmeval.bulk.row import Row
from pytest_llmeval.bulk.row_scoring import RowScoring

if sys.platform != "win32":
    import resource

_HEAD = 8


def main(job: Job) -> None:
    """Answer requests until standard input ends."""
    # What a scorer prints cannot get into the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory(job.memory_mb)
    scoring = RowScoring(job)
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, requests), daemon=True).start()
    _write(replies, b"")
    decoder, encode = msgspec.json.Decoder(list[Row]), msgspec.json.Encoder().encode
    while True:
        for row in decoder.decode(requests.get()):
            _limit_cpu(job.cpu_seconds)
            _write(replies, encode(scoring.scores(row)))


def _read(stream: BinaryIO, requests: queue.SimpleQueue[bytes]) -> None:
    while len(head := stream.read(_HEAD)) == _HEAD:
        requests.put(stream.read(int.from_bytes(head, "big")))
    os._exit(0)  # the parent has ended, or needs no more replies


def _write(stream: BinaryIO, frame: bytes) -> None:
    stream.write(len(frame).to_bytes(_HEAD, "big") + frame)
    stream.flush()


def _limit_memory(megabytes: int) -> None:
    """Limit the address space, and write no core files; macOS has no such limit.

    Only the soft limit: a child of this one may be given another.
    """
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # exceeding the CPU limit would write one
    if sys.platform != "darwin":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, hard))


def _limit_cpu(seconds: int) -> None:
    """Let the kernel end this process after `seconds` more of processor time."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        end = int(used.ru_utime + used.ru_stime) + seconds + 1  # whole seconds, rounded up
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main(msgspec.json.decode(sys.argv[1], type=Job))
