"""CPU seconds of the expression edit distance a pair, and what each saving brings.

Every variant runs in a process of its own, warmed up, over the same pairs. The yardstick is the public reference
(phybench-official/phybench d9db3ec), measured cold over the conformance pairs: 0.52 CPU seconds a pair.

    python performance/eed.py [--pairs FILE] [--every N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

SHARED = Path(os.environ.get("LLMEVAL_SHARED", Path(__file__).parents[2] / "shared"))
REFERENCE_SECONDS = 0.52
VARIANTS = {
    "published, no savings": "published",
    "published, refuting at points": "published",
    "published": "published",
    "corrected, no points at all": "corrected",
    "corrected, refuting only": "corrected",
    "corrected": "corrected",
}


def main() -> None:
    """Print the table, or measure one variant and print its figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=Path, default=SHARED / "conformance" / "eed.jsonl")
    parser.add_argument("--every", type=int, default=1, help="take every N-th pair")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    pairs = [json.loads(line) for line in options.pairs.read_text().splitlines()][:: options.every]
    if options.variant:
        print(json.dumps(measured(options.variant, [(pair["answer"], pair["target"]) for pair in pairs])))
        return
    figures = {variant: in_child(variant, options) for variant in VARIANTS}
    print(f"{len(pairs)} pairs; CPU seconds a pair; the reference: {REFERENCE_SECONDS}")
    print(f"{'variant':<32}{'mean':>9}{'median':>9}{'p99':>9}{'faster':>9}{'equal':>8}{'changed':>9}")
    for variant, figure in figures.items():
        changed = changes(figure, figures[VARIANTS[variant]])
        print(f"{variant:<32}{figure['mean']:>9.4f}{figure['median']:>9.4f}{figure['p99']:>9.3f}"
              f"{REFERENCE_SECONDS / figure['mean']:>8.1f}x{figure['equal']:>8}{changed:>9}")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


def in_child(variant: str, options: argparse.Namespace) -> dict[str, object]:
    """Measure one variant in a fresh process."""
    command = [sys.executable, __file__, "--variant", variant, "--pairs", str(options.pairs)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": "0"}
    run = subprocess.run(
        [*command, "--every", str(options.every)], check=True, capture_output=True, text=True, env=environment
    )
    return json.loads(run.stdout)


def measured(variant: str, pairs: list[tuple[str, str]]) -> dict[str, object]:
    """Return the CPU seconds and scores of one variant."""
    from pytest_llmeval.eed import corrected, numeric, published  # noqa: PLC0415 - the parent needs no sympy
    from pytest_llmeval.eed.scoring import score_pair  # noqa: PLC0415 - as above
    from pytest_llmeval.eed.stages import cpu_timer  # noqa: PLC0415 - as above

    mode = VARIANTS[variant]
    compare = numeric.compare

    def points(one, other):  # noqa: ANN001, ANN202 - stands in for numeric.compare
        if "no" in variant:
            return None
        return False if compare(one, other) is False else None if "only" in variant else compare(one, other)

    score_pair(r"\frac{a}{b}+\sin x", r"\frac{a}{c}+\sin x", mode=mode)
    seconds, scores = [], []
    with patch.object(numeric, "compare", points):
        for answer, target in pairs:
            if variant != mode:
                published.read_target.cache_clear()
                corrected.read_target.cache_clear()
                corrected.simplified.cache_clear()
            start = time.process_time()
            scores.append(score_pair(answer, target, mode=mode, stage=cpu_timer).score)
            seconds.append(time.process_time() - start)
    return {
        "mean": statistics.fmean(seconds),
        "median": statistics.median(seconds),
        "p99": statistics.quantiles(seconds, n=100)[98],
        "equal": scores.count(100.0),
        "scores": scores,
    }


def changes(one: dict[str, object], other: dict[str, object]) -> int:
    """Return how many scores differ between two variants."""
    return sum(abs(a - b) > 1e-6 for a, b in zip(one["scores"], other["scores"], strict=True))


if __name__ == "__main__":
    main()
