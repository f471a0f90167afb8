"""``llmeval questions``: propose verified questions about a graph, as a dataset or a whole task."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_llmeval.domains.heracles.address import (
    SCHEMES,
    GraphAddress,
    GraphChoice,
    parse_graph,
)
from pytest_llmeval.domains.heracles.bolt import Bolt
from pytest_llmeval.domains.heracles.graph import login_to, open_graph
from pytest_llmeval.domains.heracles.neo4j import LIMITS
from pytest_llmeval.domains.heracles.questions.dataset import dataset_yaml
from pytest_llmeval.domains.heracles.questions.property_graph import PropertyGraph
from pytest_llmeval.domains.heracles.questions.schema import Schema, schema_of
from pytest_llmeval.domains.heracles.questions.server_graph import read_server
from pytest_llmeval.domains.heracles.questions.task_folder import task_files, task_texts
from pytest_llmeval.domains.heracles.questions.templates import TEMPLATES
from pytest_llmeval.domains.heracles.questions.verified import Proposals, Wish
from pytest_llmeval.domains.heracles.questions.vocabulary import vocabulary_of
from pytest_llmeval.domains.heracles.scene_graph import read_scene
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.safety.printable import printable

MOST_QUESTIONS: Final = 10_000
_DONE: Final = 0


EXAMPLES = (
    "llmeval questions scene.json --count 20 --output questions.yaml",
    "llmeval questions bolt://localhost:7687 --task benchmarks/my_graph",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "scene",
        metavar="SCENE",
        help="a scene graph in the JSON of spark_dsg, or bolt://HOST:PORT for what a server holds",
    )
    parser.add_argument("--count", default="50", help="how many questions (50)")
    parser.add_argument("--seed", default="1", help="another number gives other questions (1)")
    parser.add_argument(
        "--kinds", metavar="KIND,...", help=f"only these kinds, of {', '.join(TEMPLATES)}"
    )
    parser.add_argument(
        "--empty", action="store_true", help="also questions whose answer is 0 or empty"
    )
    parser.add_argument(
        "--graph", metavar="GRAPH", help="database that is to hold the scene, as --llmeval-graph"
    )
    places = parser.add_mutually_exclusive_group()
    places.add_argument("--output", metavar="FILE", help="the dataset (standard output)")
    places.add_argument(
        "--task", metavar="FOLDER", help="a task for pytest: dataset, prompts, test"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files that are there already"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The arguments, checked: `scene` None stands for what the server `graph` holds."""

    scene: Path | None
    graph: GraphChoice
    wish: Wish


def run(chosen: argparse.Namespace) -> int:
    """Propose questions, write them, and tell how many were proposed and why some were dropped."""
    wanted = _wanted(chosen)
    output = Path(chosen.output) if chosen.output else None
    folder = Path(chosen.task) if chosen.task else None
    files = task_files(folder) if folder else (output,) if output else ()
    if not chosen.overwrite:
        _check_free(files)
    schema, found = asyncio.run(_proposed(wanted))
    if not found.questions:
        message = (
            f"no question can be made about {chosen.scene}: {_reasons(found.dropped + found.unfit)}"
        )
        raise UsageError(message)
    kinds = f" --kinds {','.join(wanted.wish.kinds)}" if chosen.kinds else ""
    name = Path(chosen.scene).name if wanted.scene else chosen.scene
    made = (
        f"Proposed and verified by: llmeval questions {name} --count {wanted.wish.count} "
        f"--seed {wanted.wish.seed}{kinds}{' --empty' if wanted.wish.empty else ''}"
    )
    dataset = dataset_yaml(found.questions, made=printable(made))
    if folder:
        _write(task_texts(folder, dataset, schema, wanted.scene))
    elif output:
        _write({output: dataset})
    else:
        # To the letter: it may be read again. YAML writes control characters as escapes.
        sys.stdout.write(dataset)
    run_it = _pytest_line(folder, None if wanted.scene else chosen.scene) if folder else ""
    for line in (*_report(found, wanted.wish.count), *map(str, files[:1]), run_it):
        if line:
            _say(line, error=not files)
    return _DONE


def _pytest_line(folder: Path, server: str | None) -> str:
    """Return how the task is run, for a shell; `server` None stands for a task with a scene."""
    words = ["pytest", str(folder), "--llmeval-model", "openai/NAME"]
    return "run it: " + shlex.join([*words, *(["--llmeval-graph", server] if server else [])])


def _wanted(chosen: argparse.Namespace) -> _Wanted:
    """Return the arguments; UsageError for one that is wrong."""
    live = chosen.scene.startswith(SCHEMES)
    if live and chosen.graph:
        message = f"--graph {chosen.graph!r} beside {chosen.scene!r}: name one graph database"
        raise UsageError(message)
    text = chosen.scene if live else chosen.graph
    graph = parse_graph(text)
    if live and isinstance(graph, GraphAddress) and graph.reset:
        message = f"{chosen.scene!r}: questions only read what a server holds; leave out reset=on"
        raise UsageError(message)
    if not live and not Path(chosen.scene).is_file():
        message = (
            f"{chosen.scene!r} is no file; name a scene graph in the JSON of spark_dsg, "
            "or a server that holds a graph: bolt://HOST:PORT"
        )
        raise UsageError(message)
    return _Wanted(
        scene=None if live else Path(chosen.scene),
        graph=graph,
        wish=Wish(
            count=_whole("--count", chosen.count, least=1, most=MOST_QUESTIONS),
            seed=_whole("--seed", chosen.seed, least=0, most=2**63),
            kinds=_kinds(chosen.kinds),
            empty=chosen.empty,
        ),
    )


def _whole(option: str, text: str, *, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < len(str(2**64))):
        number = -1
    else:
        number = int(text)
    if not least <= number <= most:
        message = f"{option} is {text!r}; it is a whole number from {least} to {most}"
        raise UsageError(message)
    return number


def _kinds(text: str | None) -> tuple[str, ...]:
    if text is None:
        return tuple(TEMPLATES)
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if unknown := [name for name in names if name not in TEMPLATES]:
        message = (
            f"--kinds {text!r}: {unknown[0]!r} is no kind of question; "
            f"there are {', '.join(TEMPLATES)}"
        )
        raise UsageError(message)
    return names


def _check_free(files: tuple[Path, ...]) -> None:
    for file in files:
        if file.exists() or file.is_symlink():
            message = f"{file} is there already; name another place, or add --overwrite"
            raise UsageError(message)


async def _proposed(wanted: _Wanted) -> tuple[Schema, Proposals]:
    """Read the graph, and ask the engine that holds it."""
    if wanted.scene is None and isinstance(wanted.graph, GraphAddress):
        where = wanted.graph.uri
        bolt = Bolt(login_to(wanted.graph), LIMITS)
        try:
            await bolt.agent()
            graph = await read_server(bolt, where=where)
        finally:
            await bolt.close()
    else:
        assert wanted.scene is not None  # noqa: S101 - by `_wanted`
        where = str(wanted.scene)
        graph = PropertyGraph.of_scene(read_scene(wanted.scene))
    schema = schema_of(graph, vocabulary_of(graph))
    if not schema.kinds:
        message = (
            f"{where} has no nodes to ask about"
            if not schema.graph.vertices
            else "no label of the graph has a property that tells its nodes apart: a text or whole "
            "number that every node has and no two share, whatever their case; add one, such as id"
        )
        raise UsageError(message)
    engine = await open_graph(
        wanted.graph, wanted.scene, progress=lambda line: _say(line, error=True)
    )
    try:
        found = Proposals(schema, engine.query, wanted.wish)
        await found.draw()
    finally:
        await engine.close()
    return schema, found


def _write(texts: Mapping[Path, str]) -> None:
    for file, text in texts.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, text)
        except OSError as error:
            message = f"cannot write {file}: {error.strerror or error}; name another place"
            raise UsageError(message) from error


def _report(found: Proposals, count: int) -> tuple[str, ...]:
    kinds = Counter(question.kind for question in found.questions)
    asked = "" if len(found.questions) == count else f" of {count}; the graph gives no more"
    return (
        f"{len(found.questions)} questions, each verified by its query and in Python{asked}",
        f"  {', '.join(f'{kind} {number}' for kind, number in kinds.items())}",
        f"  queries run: {found.proposed}, dropped: {_reasons(found.dropped)}",
        f"  draws without a question: {_reasons(found.unfit)}",
    )


def _reasons(reasons: Counter[str]) -> str:
    if not reasons:
        return "0"
    told = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    return f"{reasons.total()} ({told})"


def _say(text: str, *, error: bool = False) -> None:
    stream = sys.stderr if error else sys.stdout
    shown = printable(text, limit=len(text))
    encoding = stream.encoding or "utf-8"
    stream.write(shown.encode(encoding, "backslashreplace").decode(encoding) + "\n")
