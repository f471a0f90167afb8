"""The child process that scores: ``python -m pytest_llmeval.scoring.eed.worker LIMITS [CACHE]``, a JSON object a line each way.

It takes ``{"task", "answer", "target", ...}``, limits its own CPU time and memory, and answers with
a result. It ends when its standard input does, so that no child outlives a parent, however that
died.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed.distance import Weights
from pytest_llmeval.scoring.eed.explanation import explain
from pytest_llmeval.scoring.eed.limits import MEMORY_EXIT, Limits
from pytest_llmeval.scoring.eed.result import GRADERS
from pytest_llmeval.scoring.eed.scoring import expressions_equivalent, score_pair
from pytest_llmeval.scoring.eed.stages import cpu_timer
from pytest_llmeval.scoring.eed.target_cache import TargetCache

if sys.platform != "win32":
    import resource

_MEGABYTE = 1024 * 1024


def main() -> None:
    """Serve requests from standard input until it ends."""
    replies = _own_output()
    limits = Limits.from_json(json.loads(sys.argv[1]))
    cache = TargetCache(Path(sys.argv[2])) if len(sys.argv) > 2 else None  # noqa: PLR2004 - see above
    _limit_memory(limits.memory_mb)
    _warm_up()
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    print("ready", file=replies, flush=True)
    while True:
        request = json.loads(requests.get())
        _limit_cpu(limits.cpu_seconds)
        try:
            reply = _serve(request, cache)
        except MemoryError:
            os._exit(MEMORY_EXIT)
        print(json.dumps(reply), file=replies, flush=True)


def _own_output() -> TextIO:
    """Keep standard output for replies alone: what a library prints goes to standard error."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return replies


def _read(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)  # the parent is gone, or done with us; whatever is being computed interests nobody


def _warm_up() -> None:
    """Have the parsers build their tables before the first answer is timed."""
    for mode in GRADERS:
        score_pair(r"\frac{a}{b}+\sin x", r"\frac{a}{c}+\sin x", mode=mode)


def _limit_memory(megabytes: int) -> None:
    """Cap the address space, and write no core files; macOS has no such cap, there the parent watches."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the CPU limit would leave a core file behind
    if sys.platform != "darwin":
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MEGABYTE, megabytes * _MEGABYTE))


def _limit_cpu(seconds: float) -> None:
    """Let the kernel end this process `seconds` of CPU time from now, also inside a computation in C."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        end = int(used.ru_utime + used.ru_stime + seconds) + 1  # whole seconds, rounded up
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _serve(request: dict[str, Any], cache: TargetCache | None) -> dict[str, Json]:
    answer, target = request["answer"], request["target"]
    match request["task"]:
        case "equivalent":
            return {"equivalent": expressions_equivalent(answer, target, stage=cpu_timer)}
        case "explain":
            return {"text": explain(answer, target, mode=request["mode"], stage=cpu_timer)}
        case _:
            weights, mode = Weights(**request["weights"]), request["mode"]
            return score_pair(
                answer, target, mode=mode, weights=weights, stage=cpu_timer, cache=cache
            ).to_json()


if __name__ == "__main__":
    main()
