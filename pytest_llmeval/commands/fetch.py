"""``llmeval fetch``: download the dataset files that tasks name on the Hugging Face hub."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.errors import UsageError
from pytest_llmeval.results.literature import load_literature
from pytest_llmeval.safety.regular_files import open_regular
from pytest_llmeval.task.hub import HUB, HubFile, fetch
from pytest_llmeval.task.section import PlacedText
from pytest_llmeval.task.task_file import TaskFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A file to fetch.

    Attributes:
        source: where it is.
        sha256: what its bytes must have, in hex; "" if that is not known.
        option: the option by which a task takes it instead of its own dataset; "" if it is the
            task's dataset, or no task is named.
    """

    source: HubFile
    sha256: str = ""
    option: str = ""


EXAMPLES = (
    "llmeval fetch hub://OWNER/NAME/data.jsonl@0123456789abcdef0123456789abcdef01234567",
    "llmeval fetch benchmarks/sums.yaml",
)
"""Command lines that the help shows."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help=(
            "hub://OWNER/NAME/FILE@REVISION, or a task file whose dataset, or published dataset, "
            "is one"
        ),
    )


def run(chosen: argparse.Namespace) -> int:
    """Download each file, check its digest if it is known, and print path, size and digest."""
    for wanted in [one for text in chosen.sources for one in _wanted(text)]:
        file = fetch(wanted.source)
        with open_regular(file) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if wanted.sha256 not in {"", digest}:
            message = (
                f"{wanted.source}: its bytes are not the published ones (sha256 {digest}, "
                f"expected {wanted.sha256}); delete {file.resolve()} and fetch it again"
            )
            raise UsageError(message)
        say(f"{wanted.source}\n  {file}\n  {file.stat().st_size:,} bytes, sha256 {digest}")
        if wanted.option:
            say(f"  {wanted.option}")
    return YES


def _wanted(text: str) -> Iterator[Wanted]:
    """Yield the file at an address, or those that a task file names.

    These are its dataset and its split of examples, or else the public files in its published
    figures.
    """
    if text.startswith(HUB) or not text.endswith((".yaml", ".yml")):
        yield Wanted(source=HubFile.parse(text))
        return
    task = TaskFile.read(Path(text).absolute()).data
    sections = [task.get(name) for name in ("dataset", "fewshot")]
    paths = [one.get("path") if isinstance(one, dict) else None for one in sections]
    if addresses := [one for one in paths if isinstance(one, str) and one.startswith(HUB)]:
        yield from (Wanted(source=HubFile.parse(one)) for one in addresses)
        return
    published = task.get("published")
    folder = published.folder if isinstance(published, PlacedText) else Path(text).parent
    sources = load_literature(folder / published).sources if isinstance(published, str) else {}
    if not sources:
        message = f"{text}: its dataset is no file on the hub, but {paths[0]!r}"
        raise UsageError(message)
    for address, sha256 in sources.items():
        option = f"--llmeval-set {task.get('name')}.dataset.path={address}"
        yield Wanted(source=HubFile.parse(address), sha256=sha256, option=option)
