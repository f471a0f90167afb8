"""Asks both graph engines random queries, and prints each class of unknown disagreements.

    python tests/live/differential.py [--seed 1] [--count 500]

Known is what docs/graph-engines.md describes: queries that are rewritten, refused or flagged.
`--renew FILE` asks Neo4j the queries of a file in tests/domains/heracles/data/engines instead, and
writes its answers into that file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import asdict
from pathlib import Path

from live.engine_answers import Answer, answer, kind_of
from live.neo4j_process import Neo4jProcess
from live.query_grammar import queries

from pytest_llmeval.domains.heracles.arcadedb import EmbeddedGraph
from pytest_llmeval.domains.heracles.bolt import TimeLimits
from pytest_llmeval.domains.heracles.neo4j import Neo4jGraph
from pytest_llmeval.domains.heracles.scene_graph import read_scene

SCENE = Path(__file__).parents[2] / "fixtures" / "heracles" / "scene.json"
LIMITS = TimeLimits(server=5, deadline=20)
EXAMPLES = 3
_NAMES = re.compile(r"\b[a-z]+_?[a-z]*\d+\b|'[^']*'|\b\d+(?:\.\d+)?\b")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, help="of the queries (default 1)")
    parser.add_argument("--count", type=int, default=500, help="how many queries (default 500)")
    parser.add_argument(
        "--renew", type=Path, help="a file of queries whose answers are to be written anew"
    )
    options = parser.parse_args()
    server = Neo4jProcess()
    try:
        if options.renew is None:
            return asyncio.run(_compare(server, queries(options.seed, options.count)))
        asked = [case["cypher"] for case in json.loads(options.renew.read_text("utf-8"))]
        answers = asyncio.run(_answers(server, asked))
    finally:
        server.stop()
    cases = [
        {"cypher": cypher, **asdict(truth)} for cypher, truth in zip(asked, answers, strict=True)
    ]
    text = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    options.renew.write_text(f"[\n{text}\n]\n", "utf-8")
    return 0


async def _answers(server: Neo4jProcess, asked: list[str]) -> list[Answer]:
    neo4j = await Neo4jGraph.open(
        server.login, read_scene(SCENE), reset=True, progress=_tell, limits=LIMITS
    )
    try:
        return [await answer(neo4j._bolt, cypher) for cypher in asked]
    finally:
        await neo4j.close()


async def _compare(server: Neo4jProcess, asked: list[str]) -> int:
    truths = await _answers(server, asked)
    embedded = await EmbeddedGraph.start(read_scene(SCENE), progress=_tell, limits=LIMITS)
    try:
        return await _report(embedded, dict(zip(asked, truths, strict=True)))
    finally:
        await embedded.close()


async def _report(embedded: EmbeddedGraph, truths: dict[str, Answer]) -> int:
    kinds: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    unknown: dict[str, list[str]] = defaultdict(list)
    for cypher, truth in truths.items():
        kinds[kind_of(truth, await _raw(embedded, cypher))] += 1
        end = await _end(embedded, cypher, truth)
        ends[end] += 1
        if end.startswith("unknown"):
            unknown[f"{end}: {shape(cypher)}"].append(cypher)
    asked = f"{len(truths)} queries; ArcadeDB asked as they are written"
    print(f"{asked}: {_counts(kinds)}")  # noqa: T201 - a report
    print(f"as the embedded engine is asked: {_counts(ends)}")  # noqa: T201
    for problem, examples in sorted(unknown.items(), key=lambda found: -len(found[1])):
        print(f"\n{len(examples)} x {problem}")  # noqa: T201
        for example in examples[:EXAMPLES]:
            print(f"    {example}")  # noqa: T201
    return 1 if unknown else 0


async def _end(embedded: EmbeddedGraph, cypher: str, truth: Answer) -> str:
    """Return what becomes of a query on the embedded engine, beside what Neo4j answers."""
    adapted = embedded._adapt(cypher)
    if adapted.doubt is not None:
        return "flagged"
    found = Answer()
    if adapted.refusal is None or adapted.needs_rows:
        found = await _raw(embedded, adapted.text)
    if adapted.refusal is not None and (found.rows or not adapted.needs_rows):
        if truth.error:
            return "refused by both"
        # An error without a place is one of the data: Neo4j meets it with the first row, and had
        # none.
        return (
            f"unknown refusal ({adapted.refusal})"
            if "(line " in adapted.refusal
            else "refused though no row came"
        )
    if found.error:
        return (
            "refused by both" if truth.error else "flagged"
        )  # whatever the engine itself refuses is
    if not truth.agrees(found):
        return f"unknown acceptance ({truth.error[:100]})" if truth.error else "unknown rows"
    return "same" if adapted.text == cypher else "mended"


async def _raw(embedded: EmbeddedGraph, cypher: str) -> Answer:
    return await answer((await embedded._running()).reader, cypher)


def shape(cypher: str) -> str:
    """Return a query without names, texts and numbers, to group queries of one class."""
    return _NAMES.sub("_", cypher)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counter.most_common())


def _tell(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
