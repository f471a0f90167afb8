"""``llmeval fetch``: download the dataset files that tasks name on the Hugging Face hub."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import Final

from pytest_llmeval.commands.console import YES, Commands, say
from pytest_llmeval.errors import UsageError

MAX_TASK_BYTES: Final = 1_000_000


def declare(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser("fetch", help="download dataset files from the Hugging Face hub")
    command.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="hub://OWNER/NAME/FILE@REVISION, or a task file whose dataset is such",
    )
    command.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_llmeval.task.hub import HubFile, fetch  # noqa: PLC0415 - only this command needs it

    for source in [HubFile.parse(_address(text)) for text in chosen.sources]:
        file = fetch(source)
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        say(f"{source}\n  {file}\n  {file.stat().st_size:,} bytes, sha256 {digest}")
    return YES


def _address(text: str) -> str:
    """Return the address itself, or the one that a task file gives as its dataset."""
    from pytest_llmeval.files.yaml import read_yaml  # noqa: PLC0415 - as above
    from pytest_llmeval.task.catalog import HUB  # noqa: PLC0415 - only this command needs it

    if text.startswith(HUB) or not text.endswith((".yaml", ".yml")):
        return text
    task = read_yaml(Path(text), max_bytes=MAX_TASK_BYTES).value
    dataset = task.get("dataset") if isinstance(task, dict) else None
    path = dataset.get("path") if isinstance(dataset, dict) else None
    if not isinstance(path, str) or not path.startswith(HUB):
        message = f"{text}: its dataset is no file on the hub, but {path!r}"
        raise UsageError(message)
    return path
