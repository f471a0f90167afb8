"""Coverage-guided search for inputs that break a promise: ``make fuzz``.

    python tests/fuzz/fuzzing.py                       # all targets, ten seconds each
    python tests/fuzz/fuzzing.py verdict --seconds 300 --corpus FOLDER

Each target is searched in a process of its own, with limits of time and memory for an input. What
breaks a promise is kept in tests/fuzz/cases/TARGET, where `test_fuzz_cases.py` tries it from then
on; give the file a name that says what it was. Inputs are hostile, so they are shown as `repr`
writes them, and cut.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.target import FOLDER, NAMES, target_called

WALL_SECONDS = 120
"""Seconds of an input that neither computes nor ends; CPU time limits the others."""

MEGABYTES = 2_000
"""Resident memory of the process, at most."""

START_SECONDS = 300
"""Seconds that the process may take beside its search, on a busy machine."""

SHOWN = 300
PROGRESS = re.compile(r"^#(\d+)\s+\w+\s+cov: (\d+) ft: (\d+) corp: (\d+)", re.MULTILINE)
RAISED = re.compile(r"^ *(?:=== Uncaught Python exception: ===\n)([^\n]*)", re.MULTILINE)
FATAL = re.compile(r"libFuzzer: (timeout|out-of-memory[^\n]*)|ERROR: libFuzzer: ([^\n]*)")


@dataclass(frozen=True, kw_only=True)
class Search:
    """What a search has found.

    Attributes:
        executions: inputs that were tried.
        coverage: branches that were taken at least once.
        corpus: inputs that each took a branch of their own.
        found: the input that broke a promise; None if none did.
        reason: how it did; the end of the output where the process failed by itself.
    """

    executions: int = 0
    coverage: int = 0
    corpus: int = 0
    found: bytes | None = None
    reason: str = ""

    @property
    def sound(self) -> bool:
        """Whether the search came to its end and broke nothing."""
        return self.found is None and not self.reason

    def __str__(self) -> str:
        """Return the figures, and what was found, safe to print."""
        figures = f"{self.executions:,} inputs, {self.coverage:,} branches, corpus of {self.corpus}"
        if self.sound:
            return f"{figures}, nothing found"
        shown = "" if self.found is None else f": {self.found[:SHOWN]!r}"
        return f"{figures}; {self.reason[:SHOWN]!r}{shown}"


def search(name: str, seconds: int, corpus: Path | None = None, seed: int = 1) -> Search:
    """Search a target for some seconds.

    Args:
        name: of the target.
        seconds: of the search; the start of the process comes beside it.
        corpus: folder to begin with and to add to; a temporary one if None.
        seed: libFuzzer's.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        command = [
            *(sys.executable, str(FOLDER / "fuzz_child.py"), name),
            *_written(name, folder, corpus),
            *(f"-max_total_time={seconds}", f"-seed={seed}", f"-rss_limit_mb={MEGABYTES}"),
            *(f"-timeout={WALL_SECONDS}", f"-artifact_prefix={folder}/found-"),
            *("-print_final_stats=1", f"-max_len={target_called(name).longest}"),
        ]
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": _path()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds + START_SECONDS,
            check=False,
        )
        output = (done.stdout + done.stderr).decode("utf-8", "replace")
        found = next(iter(sorted(folder.glob("found-*"))), None)
        return _read(output, done.returncode, None if found is None else found.read_bytes())


def _written(name: str, folder: Path, corpus: Path | None) -> list[str]:
    """Write seeds, known cases and dictionary of a target; return the options that name them."""
    target = target_called(name)
    seeds = folder / "seeds"
    seeds.mkdir()
    kept = (file.read_bytes() for file in (FOLDER / "cases" / name).glob("*"))
    for number, seed in enumerate((*target.seeds(), *kept)):
        (seeds / f"{number:05}").write_bytes(seed)
    new = folder / "corpus" if corpus is None else corpus
    new.mkdir(parents=True, exist_ok=True)
    words = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in target.words)
    (folder / "words").write_text("".join(f'"{word}"\n' for word in words))
    return [str(new), str(seeds), f"-dict={folder / 'words'}"]


def _read(output: str, status: int, found: bytes | None) -> Search:
    seen = PROGRESS.findall(output)
    executions, coverage, _, corpus = map(int, seen[-1]) if seen else (0, 0, 0, 0)
    reason = ""
    if found is not None or status:
        raised, fatal = RAISED.search(output), FATAL.search(output)
        told = raised[1] if raised else (fatal[0] if fatal else output[-SHOWN:])
        reason = told or f"status {status}"
    return Search(
        executions=executions, coverage=coverage, corpus=corpus, found=found, reason=reason
    )


def _path() -> str:
    tests = Path(__file__).parents[1]
    return os.pathsep.join((str(tests.parent), str(tests)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Search targets, print what was found, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(NAMES)}; all")
    parser.add_argument("--seconds", type=int, default=10, help="of each target")
    parser.add_argument("--seed", type=int, default=1, help="of the search")
    parser.add_argument("--corpus", type=Path, help="folder that the search begins with and grows")
    options = parser.parse_args(arguments)
    if unknown := {*options.targets} - {*NAMES}:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    sound = True
    for name in options.targets or NAMES:
        corpus = None if options.corpus is None else options.corpus / name
        result = search(name, options.seconds, corpus, options.seed)
        print(f"{name:8} {result}", flush=True)  # noqa: T201 - a command line prints
        sound = sound and result.sound
        if result.found is not None:
            kept = FOLDER / "cases" / name / f"found-{sha256(result.found).hexdigest()[:12]}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(result.found)
            print(f"{'':8} kept as {kept}; name it after what it was")  # noqa: T201
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
