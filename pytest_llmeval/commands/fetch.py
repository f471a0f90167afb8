"""``llmeval fetch``: download the dataset files that tasks name on the Hugging Face hub."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from pytest_llmeval.commands.console import YES, say
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.yaml import read_yaml
from pytest_llmeval.safety.regular_files import open_regular
from pytest_llmeval.task.hub import HUB, HubFile, fetch
from pytest_llmeval.task.load import MAX_TASK_BYTES


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="hub://OWNER/NAME/FILE@REVISION, or a task file whose dataset is one",
    )


def run(chosen: argparse.Namespace) -> int:
    """Download each file, and print its path, size and digest."""
    for source in [HubFile.parse(_address(text)) for text in chosen.sources]:
        file = fetch(source)
        with open_regular(file) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        say(f"{source}\n  {file}\n  {file.stat().st_size:,} bytes, sha256 {digest}")
    return YES


def _address(text: str) -> str:
    """Return the address itself, or the one that a task file has as its dataset."""
    if text.startswith(HUB) or not text.endswith((".yaml", ".yml")):
        return text
    task = read_yaml(Path(text), max_bytes=MAX_TASK_BYTES).value
    dataset = task.get("dataset") if isinstance(task, dict) else None
    path = dataset.get("path") if isinstance(dataset, dict) else None
    if not isinstance(path, str) or not path.startswith(HUB):
        message = f"{text}: its dataset is no file on the hub, but {path!r}"
        raise UsageError(message)
    return path
