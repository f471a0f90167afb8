"""The child process that scores: ``python -m pytest_llmeval.scoring.eed.sandbox.worker LIMITS``.

Requests come by standard input and replies go to standard output, one JSON object a line. A request
is ``{"task", "answer", "target", ...}``. The process limits its own CPU time and memory. It ends
with its standard input, so it does not outlive its parent.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
from typing import Any, TextIO

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed.explanation import explain
from pytest_llmeval.scoring.eed.metric.distance import Weights
from pytest_llmeval.scoring.eed.result import GRADERS
from pytest_llmeval.scoring.eed.sandbox.limits import MEMORY_EXIT, Limits
from pytest_llmeval.scoring.eed.scoring import equal_pair, score_pair, target_error
from pytest_llmeval.scoring.eed.time_limit import cpu_timer

if sys.platform != "win32":
    import resource

_GARBAGE = 50_000  # new objects between two collections of garbage; Python's own is 700
_MEGABYTE = 1024 * 1024


def main() -> None:
    """Serve requests from standard input until it ends."""
    replies = _reply_stream()
    limits = Limits.from_json(json.loads(sys.argv[1]))
    _limit_memory(limits.memory_mb)
    _warm_up()
    # What is loaded by now stays; collecting it again and again takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    print("ready", file=replies, flush=True)
    while True:
        request = json.loads(requests.get())
        _limit_cpu(limits.cpu_seconds)
        try:
            reply = _serve(request)
        except MemoryError:
            os._exit(MEMORY_EXIT)
        print(json.dumps(reply), file=replies, flush=True)


def _reply_stream() -> TextIO:
    """Return a stream to standard output, and redirect what libraries print to standard error."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies


def _read(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)  # the parent has ended, or needs no more replies


def _warm_up() -> None:
    """Let the parsers build their tables before the first evaluation is timed."""
    for mode in GRADERS:
        score_pair(r"\frac{a}{b}+\sin x", r"\frac{a}{c}+\sin x", mode=mode)


def _limit_memory(megabytes: int) -> None:
    """Limit the address space, and write no core files.

    macOS has no such limit; there the parent checks the memory.
    """
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # exceeding the CPU limit would write one
    if sys.platform != "darwin":
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MEGABYTE, megabytes * _MEGABYTE))


def _limit_cpu(seconds: float) -> None:
    """Let the kernel end this process after `seconds` more of CPU time, also within C code."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        end = int(used.ru_utime + used.ru_stime + seconds) + 1  # whole seconds, rounded up
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _serve(request: dict[str, Any]) -> dict[str, Json]:
    answer, target = request["answer"], request["target"]
    match request["task"]:
        case "check":
            return {"reason": target_error(target)}
        case "equal":
            conventions = request["conventions"]
            equal = equal_pair(answer, target, conventions=conventions, time_limit=cpu_timer)
            return {"equal": equal}
        case "explain":
            return {"text": explain(answer, target, mode=request["mode"], time_limit=cpu_timer)}
        case _:
            weights, mode = Weights.from_json(request["weights"]), request["mode"]
            result = score_pair(
                answer,
                target,
                mode=mode,
                weights=weights,
                time_limit=cpu_timer,
                conventions=request["conventions"],
            )
            return result.to_json()


if __name__ == "__main__":
    main()
