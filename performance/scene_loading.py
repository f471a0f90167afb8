"""Time and memory that loading a large scene into a graph database takes.

``python performance/scene_loading.py [--nodes 100000] [--relationships 400000] [--graph neo4j]``
makes a scene as spark_dsg saves it, opens it as a task does (on the database that `--graph` names
as ``--llmeval-graph`` does; a user's server is wiped), and asks a few questions. On a
user's server it opens the scene once more, which then is there already. It prints a table and JSON.
CPU seconds and peak memory of a server of our own are those of the child process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_llmeval.domains.heracles.address import GraphAddress, GraphChoice, parse_graph
from pytest_llmeval.domains.heracles.graph import open_graph

T = TypeVar("T")

ROOMS, PLACES_IN_A_ROOM = 200, 200
CLASSES = ["chair", "table", "lamp", "box", "trash can", "plant"]
QUESTIONS = {
    "count": "MATCH (o:Object) RETURN count(o) AS n",
    "one node by its symbol": "MATCH (o:Object {nodeSymbol: 'O777'}) RETURN o.center",
    "rooms of a class's objects": "MATCH (r:Room)-[:CONTAINS*]->(o:Object {class: 'lamp'}) "
    "RETURN r.nodeSymbol AS r, count(DISTINCT o) AS n ORDER BY n DESC, r LIMIT 5",
    "three hops": "MATCH (p:MeshPlace {nodeSymbol: 'P100'})-[:MESH_PLACE_CONNECTED*1..3]-(q) "
    "RETURN count(DISTINCT q) AS n",
}


def make_scene(nodes: int, relationships: int, dice: random.Random) -> dict[str, Any]:
    """Return a scene with that many nodes, and as many edges as make that many relationships.

    Every object lies on one place and every place in one room; all other edges join neighbours, two
    relationships each.
    """
    rooms = min(ROOMS, nodes // 10)
    places = min(rooms * PLACES_IN_A_ROOM, nodes // 2)
    counts = {"R": rooms, "P": places, "O": nodes - rooms - places}
    items = [
        _node(letter, index, dice) for letter, count in counts.items() for index in range(count)
    ]
    edges = {(_id("R", index % rooms), _id("P", index)) for index in range(places)}
    edges |= {(_id("P", dice.randrange(places)), _id("O", index)) for index in range(counts["O"])}
    connections = (relationships - len(edges)) // 2
    beside: set[tuple[int, int]] = set()
    while len(beside) < connections:
        letter = dice.choice("PO")
        one = dice.randrange(counts[letter])
        other = min(counts[letter] - 1, one + dice.randint(1, 30))
        if one != other:
            beside.add((_id(letter, one), _id(letter, other)))
    return {
        "metadata": {"labelspaces": {"_l2p0": list(enumerate(CLASSES)), "_l4p0": [[0, "office"]]}},
        "nodes": items,
        "edges": [{"source": source, "target": target} for source, target in [*edges, *beside]],
    }


def _id(letter: str, index: int) -> int:
    return ord(letter) << 56 | index


def _node(letter: str, index: int, dice: random.Random) -> dict[str, Any]:
    layer, partition = {"O": (2, 0), "P": (3, 1), "R": (4, 0)}[letter]
    place = [round(dice.uniform(-500, 500), 3) for _ in "xyz"]
    attributes: dict[str, Any] = {
        "position": place,
        "semantic_label": 0 if letter == "R" else index % len(CLASSES),
    }
    if letter == "O":
        attributes |= {
            "name": "",
            "bounding_box": {"world_P_center": place, "dimensions": [0.5, 0.5, 1.0]},
        }
    return {
        "id": _id(letter, index),
        "layer": layer,
        "partition": partition,
        "attributes": attributes,
    }


async def measure(scene: Path, choice: GraphChoice) -> dict[str, float]:
    """Return seconds by step."""
    figures: dict[str, float] = {}

    async def timed(name: str, step: Awaitable[T]) -> T:
        start = time.monotonic()
        result = await step
        figures[name] = time.monotonic() - start
        return result

    def show(text: str) -> None:
        print(f"  {text}", file=sys.stderr)

    graph = await timed("open and load", open_graph(choice, scene, progress=show))
    for name, query in QUESTIONS.items():
        result = await timed(f"query: {name}", graph.query(query))
        if result.error is not None:
            figures[f"query: {name}"] = math.nan
            show(f"{name}: {result.error}")
    await graph.close()
    if isinstance(choice, GraphAddress):
        again = GraphAddress(uri=choice.uri)
        graph = await timed("open again", open_graph(again, scene, progress=show))
        await graph.close()
    return figures


def main() -> None:
    """Make, open, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--relationships", type=int, default=400_000)
    parser.add_argument(
        "--graph", help="neo4j, arcadedb, or bolt://HOST:PORT,reset=on, whose content is replaced"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scene.json"
        dice = random.Random(1)  # noqa: S311 - seeded
        file.write_text(json.dumps(make_scene(arguments.nodes, arguments.relationships, dice)))
        figures = {
            "file MB": file.stat().st_size / 1e6,
            **asyncio.run(measure(file, parse_graph(arguments.graph))),
        }
    for name, who in {"own": resource.RUSAGE_SELF, "server's": resource.RUSAGE_CHILDREN}.items():
        usage = resource.getrusage(who)
        figures[f"{name} CPU s"] = usage.ru_utime + usage.ru_stime
        # Linux counts kilobytes, macOS bytes.
        figures[f"{name} peak MB"] = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    for name, figure in figures.items():
        print(f"{name:40} {figure:10.2f}")
    print(
        json.dumps({"nodes": arguments.nodes, "relationships": arguments.relationships, **figures})
    )


if __name__ == "__main__":
    main()
