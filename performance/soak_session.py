"""One session of pytest over a part of the soak's samples, met by faults."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from soak_faults import ALL, Clock, ModelServer, Strike, Target
from soak_ledger import Entry, LedgerReader
from soak_processes import peak_megabytes, wait_for_the_end, workers_of
from soak_project import Part

CONCURRENCY: Final = 100
POLL_SECONDS: Final = 0.1
MEMORY_SECONDS: Final = 1.0
"""Seconds between two looks at the memory of the processes."""

HANGS_AFTER: Final = 300.0
"""Seconds without a request or a row after which a session counts as hanging."""

LEFT_AFTER: Final = 60.0
"""Seconds that the children of a session may take to follow it."""

OF_PYTEST: Final = "pytest-of-"
"""Beginning of the name of the temporary folder that pytest itself keeps."""

ALARMS: Final = ("INTERNALERROR", "Traceback (most recent call last)")
"""Texts that no session may print, whatever meets it."""


@dataclass(kw_only=True)
class Ended:
    """A session that has ended.

    Attributes:
        part: name of its part.
        workers: whether it had two workers.
        strikes: the faults that met it, in order.
        status: exit status of its process.
        seconds: wall time.
        rows: rows that it wrote.
        peak: most memory of its main process (MB).
        worker_peak: most memory of one of its workers (MB).
        entries: the ledger's entries of its time.
        left: command lines of processes, and names of temporary files, that it left behind.
        alarms: lines of its output that no session may print.
        hung: whether it had to be killed.
        whole: whether it wrote a row for each sample, so that its memory can be compared.
    """

    part: str
    workers: bool
    strikes: list[str] = field(default_factory=list)
    status: int = 0
    seconds: float = 0.0
    rows: int = 0
    peak: float = 0.0
    worker_peak: float = 0.0
    entries: list[Entry] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)
    hung: bool = False
    whole: bool = False

    @property
    def kind(self) -> str:
        """Which sessions it can be compared with."""
        return self.part.rstrip("0123456789") + (" -n2" if self.workers else " -n0")


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What sessions run on.

    Attributes:
        folder: for logs and temporary files.
        ledger: read by the session that runs, and by no one else.
    """

    folder: Path
    server: ModelServer
    clock: Clock
    ledger: LedgerReader
    draw: random.Random

    @property
    def temporary(self) -> Path:
        """The folder of the sessions' temporary files."""
        return self.folder / "tmp"


def run_session(
    bench: Bench, part: Part, log: Path, *, workers: bool, strikes: Sequence[Strike]
) -> Ended:
    """Run a session to its end, whatever that is; a run that has begun is resumed."""
    bench.temporary.mkdir(exist_ok=True)
    ended, began = Ended(part=part.name, workers=workers), time.monotonic()
    with log.open("wb") as output:
        process = _start(bench, part, output.fileno(), workers=workers)
        _Watch(bench, part, process, ended, [*strikes]).until_the_end()
    ended.status, ended.seconds = process.returncode, time.monotonic() - began
    ended.left += wait_for_the_end({bench.server.process_id}, LEFT_AFTER)
    names = sorted(one.name for one in bench.temporary.iterdir())
    ended.left += [name for name in names if not name.startswith(OF_PYTEST)]
    shutil.rmtree(bench.temporary)
    ended.entries += bench.ledger.new()
    ended.whole = ended.rows >= len(part.expected)
    text = log.read_text(errors="replace")
    ended.alarms = [line for line in text.splitlines() if any(one in line for one in ALARMS)]
    return ended


def _start(bench: Bench, part: Part, output: int, *, workers: bool) -> subprocess.Popen[bytes]:
    # A first query waits until the database has started.
    sample_seconds = "240" if part.graph else "40"
    address = f"http://127.0.0.1:{bench.server.port}/v1"
    command = [
        *(sys.executable, "-m", "pytest", f"test_{part.name}.py", "-q", "--tb=no", "-r", ""),
        *("-p", "soak_clock", "-p", "pytest_llmeval.plugin"),
        *("-p", "no:cacheprovider", "-p", "no:randomly"),
        *("--llmeval-model", f"openai/soak,base_url={address},timeout=15,patience=30"),
        *("--llmeval-concurrency", str(CONCURRENCY), "--llmeval-sample-timeout", sample_seconds),
        *("--llmeval-report", str(part.reports)),
        *(("-n", "2") if workers else ()),
        *(("--llmeval-resume",) if (part.reports / "latest").exists() else ()),
    ]
    here = Path(__file__).parent
    environ = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI")}
    paths = [str(here.parent), str(here), environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        command,
        cwd=part.folder,
        env={
            **environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "TMPDIR": str(bench.temporary),
            "SOAK_CLOCK": str(bench.clock.file),
        },
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_hear_ctrl_c,  # noqa: PLW1509 - this program has one thread
    )


def _hear_ctrl_c() -> None:
    """Undo that a shell lets its background jobs, and all that they start, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class _Watch:
    """Looks at a session until it has ended, and strikes it at the moments that were drawn."""

    def __init__(
        self,
        bench: Bench,
        part: Part,
        process: subprocess.Popen[bytes],
        ended: Ended,
        strikes: list[Strike],
    ) -> None:
        self._bench, self._part, self._process = bench, part, process
        self._ended, self._strikes = ended, strikes
        self._began = self._moved = time.monotonic()
        self._weighed = 0.0
        self._rows_read = _size(part.reports / "latest" / "rows.jsonl")
        self._asked = 0

    def until_the_end(self) -> None:
        while self._process.poll() is None:
            self._look()
            for strike in [one for one in self._strikes if self._is_due(one)]:
                self._strikes.remove(strike)
                self._strike(strike)
            if time.monotonic() - self._moved > HANGS_AFTER:
                self._ended.hung = True
                self._process.kill()
            time.sleep(POLL_SECONDS)

    def _look(self) -> None:
        ended, seen = self._ended, (len(self._ended.entries), self._ended.rows)
        new = [*self._bench.ledger.new()]
        ended.entries += new
        self._asked += sum(entry.kind == "asked" for entry in new)
        file = self._part.reports / "latest" / "rows.jsonl"
        if _size(file) > self._rows_read:
            with file.open("rb") as rows:
                rows.seek(self._rows_read)
                written = rows.read()
            self._rows_read += len(written)
            ended.rows += written.count(b"\n")
        now = time.monotonic()
        if (len(ended.entries), ended.rows) != seen:
            self._moved = now
        if now - self._weighed < MEMORY_SECONDS:
            return
        self._weighed = now
        ended.peak = max(ended.peak, peak_megabytes(self._process.pid))
        if ended.workers:
            peaks = map(peak_megabytes, workers_of(self._process.pid))
            ended.worker_peak = max(ended.worker_peak, *peaks, 0.0)

    def _is_due(self, strike: Strike) -> bool:
        come = {
            "seconds": time.monotonic() - self._began,
            "asked": self._asked,
            "rows": self._ended.rows,
        }
        return come[strike.when] >= strike.count

    def _strike(self, strike: Strike) -> None:
        if self._process.poll() is not None:
            return
        target = Target(
            process=self._process.pid,
            server=self._bench.server,
            clock=self._bench.clock,
            files=self._written,
            draw=self._bench.draw,
        )
        ALL[strike.fault](target)
        self._ended.strikes.append(str(strike))
        self._moved = time.monotonic()

    def _written(self) -> list[Path]:
        folder = self._part.reports / "latest"
        return [
            one for one in (*folder.glob("*.jsonl"), *folder.glob("*.sqlite3*")) if one.exists()
        ]


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
