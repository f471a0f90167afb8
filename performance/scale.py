"""CPU seconds and memory of each phase of a run, from one sample to 100,000, beside plain pytest.

    python performance/scale.py --samples 1 1000 3000 10000
    python performance/scale.py --samples 100000 --only collect report compare --folder /big/disk
    python docs/images/draw_scale.py scale.json docs/images/scale.svg

Each cell (a phase at a number of samples) is one process, and is written to a JSON file (`--out`)
as soon as it has ended. Cells that the file holds are not measured again without `--again`.
`--folder` keeps the projects with their runs, so that later phases find them in another call: the
phases from `store` on need `run`, which is made when it is missing.

CPU seconds are those of the process and of the children that it waited for, the peak is resident
memory of the process alone. A cell also has the load of the machine before it (one minute).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scale_project import latest, write_project, write_second_run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from report.in_chromium import started_chromium

SIZES = (1, 1_000, 3_000, 10_000, 30_000, 100_000)

PYTEST = (
    *(sys.executable, "-m", "pytest", "-q", "--tb=no", "-r", "N"),
    *("-p", "no:xdist", "-p", "no:rerunfailures", "-p", "no:hypothesispytest"),
)
PLAIN = (*PYTEST, "-p", "no:pytest_llmeval.plugin", "test_plain.py")
OURS = (*PYTEST, "-p", "pytest_llmeval.plugin", "test_scale.py")
ASKS = (
    *("--llmeval-model", "python/./model.py:reply"),
    *("--llmeval-report", "reports"),
)
CLI = (sys.executable, "-m", "pytest_llmeval")

PHASES: Mapping[str, tuple[str, ...]] = {
    "plain collect": (*PLAIN, "--collect-only"),
    "plain run": PLAIN,
    "collect": (*OURS, *ASKS, "--collect-only"),
    "one": (*OURS, *ASKS, "--llmeval-report", "one", "-k", "s000001"),
    "estimate": (*OURS, "--llmeval-model", "openai/gpt-5.1", "--llmeval-estimate"),
    "run": (*OURS, *ASKS),
    "store": (*OURS, *ASKS, "--llmeval-resume", "RUN"),
    "report": (*CLI, "report", "RUN"),
    "compare": (*CLI, "compare", "RUN", "SECOND", "--html", "comparison.html"),
}
"""The command of each phase; RUN and SECOND are the folders of runs."""

NEEDS_RUN = ("store", "report", "compare", "page")

PAGE = "page"
"""The phase in which Chromium opens report.html."""


def main() -> None:
    """Measure the cells that are asked for, and print and store each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--only", nargs="*", choices=[*PHASES, PAGE], default=[*PHASES, PAGE])
    parser.add_argument("--again", action="store_true", help="also cells that the file holds")
    parser.add_argument("--out", type=Path, default=Path("scale.json"))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "scale")
    chosen = parser.parse_args()
    cells = json.loads(chosen.out.read_text()) if chosen.out.exists() else []
    for samples in chosen.samples:
        folder = (chosen.folder / str(samples)).resolve()
        write_project(folder, samples)
        for phase in chosen.only:
            known = [one for one in cells if (one["samples"], one["phase"]) == (samples, phase)]
            if known and not chosen.again:
                continue
            for cell in measured(phase, samples, folder):
                same = (cell["samples"], cell["phase"])
                cells = [one for one in cells if (one["samples"], one["phase"]) != same]
                cells.append(cell)
                write(chosen.out, cells)
                show(cell)


def measured(phase: str, samples: int, folder: Path) -> list[dict[str, Any]]:
    """Return the cell of a phase, after that of the run which it needs, if that is missing."""
    cells = []
    if phase in NEEDS_RUN and not (folder / "reports" / "latest").exists():
        cells.append(took("run", samples, folder))
    cells.append(loaded(samples, folder) if phase == PAGE else took(phase, samples, folder))
    return cells


def took(phase: str, samples: int, folder: Path) -> dict[str, Any]:
    """Run the command of a phase and return its cell."""
    places: dict[str, str] = {}
    if phase in NEEDS_RUN:
        places["RUN"] = str(latest(folder))
    if phase == "compare":
        places["SECOND"] = str(write_second_run(folder))
    command = [places.get(word, word) for word in PHASES[phase]]
    load, started = os.getloadavg()[0], time.perf_counter()
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        # Not `resource`: its peak is that of the largest of all children so far.
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "output.txt").read_text(errors="replace").replace(str(folder), ".")
    # 1: tests failed, as some do, or what was compared differs.
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{text[-3000:]}")
    lines = text.strip().splitlines() or [""]
    peak = usage.ru_maxrss * (1024 if sys.platform == "linux" else 1)
    cell = {
        "samples": samples,
        "phase": phase,
        "cpu": round(usage.ru_utime + usage.ru_stime, 2),
        "wall": round(time.perf_counter() - started, 1),
        "peak_mb": round(peak / 1e6, 1),
        "load": round(load, 1),
        "status": process.returncode,
        "last_line": lines[-1][:100],
    }
    if phase in {"run", "report"}:
        cell["page_mb"] = round((latest(folder) / "report.html").stat().st_size / 1e6, 2)
    return cell


def loaded(samples: int, folder: Path) -> dict[str, Any]:
    """Open the report in Chromium and return how long it took until the first row was shown."""
    with started_chromium() as browser:
        page = browser.new_page()
        load, started = os.getloadavg()[0], time.perf_counter()
        page.goto((latest(folder) / "report.html").as_uri())
        page.wait_for_selector("tbody tr a", state="attached")
        shown = time.perf_counter() - started
        heap = page.evaluate("performance.memory.usedJSHeapSize")
    return {
        "samples": samples,
        "phase": PAGE,
        "wall": round(shown, 2),
        "heap_mb": round(heap / 1e6, 1),
        "load": round(load, 1),
    }


def write(file: Path, cells: list[dict[str, Any]]) -> None:
    """Replace the file of cells as a whole."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(cells, indent=1) + "\n")
    part.replace(file)


def show(cell: Mapping[str, Any]) -> None:
    """Print a cell as a line."""
    rest = {name: value for name, value in cell.items() if name not in {"samples", "phase"}}
    print(f"{cell['samples']:7,} {cell['phase']:14} {rest}", flush=True)


if __name__ == "__main__":
    main()
