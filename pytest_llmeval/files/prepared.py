"""Pictures of datasets as they are sent, each decoded once and remembered in the user's cache.

What is remembered is a line for each picture that can be decoded, the sha256 of its file and of
what is sent, and what is sent where that is a copy. A picture is known by its bytes alone: a
dataset that moves, or that is checked out again, is not decoded again. Damaged ones are not
remembered, because they are to be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_llmeval.files.decoder import PROCESSES, can_decode
from pytest_llmeval.files.images import sendable
from pytest_llmeval.files.pictures import SUFFIX, keep, own_folder
from pytest_llmeval.records import Image
from pytest_llmeval.safety.regular_files import read_regular

VERSION: Final = 1
"""Of the rules by which a picture is made ready; other rules remember anew."""

_COPY: Final = "image/png"
_LINE: Final = re.compile(r"([0-9a-f]{64}) ([0-9a-f]{64})\n")
_MAX_BYTES: Final = 1 << 27
"""Of the file of lines, which are a million then."""


def prepare_pictures(
    paths: Iterable[str], begin: Callable[[int], None] = lambda _: None
) -> Mapping[str, Image | str]:
    """Return by path each picture as it is sent (see `sendable`), or what is wrong with it.

    Args:
        paths: the pictures' files.
        begin: called with the number of pictures that have to be decoded, if there are any.

    Raises:
        UsageError: pillow is needed and not installed, or the child that decodes does not start.
    """
    images = {path: _loaded(path) for path in paths}
    distinct = {one.digest: one for one in images.values() if isinstance(one, Image)}
    sent = _known(distinct) if can_decode() else {}
    new = [image for digest, image in distinct.items() if digest not in sent]
    if new:
        begin(len(new))
        sent |= _decoded(new)
    return {
        path: one if isinstance(one, str) else _of_path(sent[one.digest], one)
        for path, one in images.items()
    }


def _loaded(path: str) -> Image | str:
    try:
        return Image.load(path)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    except ValueError as error:
        return str(error)


def _of_path(sent: Image | str, image: Image) -> Image | str:
    """Return what is sent for a picture, which may have the bytes of another file."""
    return image if isinstance(sent, Image) and sent.digest == image.digest else sent


def _decoded(images: Sequence[Image]) -> dict[str, Image | str]:
    """Return by digest what is sent for each picture, or what is wrong with it; remember both."""
    sent: dict[str, Image | str] = {}
    try:
        with ThreadPoolExecutor(PROCESSES) as threads:
            for image, found in zip(images, threads.map(_sent, images), strict=True):
                sent[image.digest] = found
    finally:
        if can_decode():
            _remember(sent)
    return sent


def _sent(image: Image) -> Image | str:
    try:
        return sendable(image, _keep)
    except ValueError as error:
        return str(error)
    except OSError as error:
        return (
            f"what is sent in its place cannot be kept in {own_folder()}: "
            f"{error.strerror or error}; set XDG_CACHE_HOME"
        )


def _keep(data: bytes) -> Image:
    return keep(data, own_folder())


def _known(images: Mapping[str, Image]) -> dict[str, Image | str]:
    """Return by digest what is sent for those pictures that were decoded before."""
    try:
        text = read_regular(_memory(), max_bytes=_MAX_BYTES).decode("ascii", "replace")
    except OSError:
        return {}
    found: dict[str, Image | str] = {}
    for line in text.splitlines(keepends=True):
        # Another session may be writing, or may have died: a line that is not whole is passed over.
        if (match := _LINE.fullmatch(line)) is None or match[1] not in images:
            continue
        copy = own_folder() / f"{match[2]}{SUFFIX[_COPY]}"
        if match[1] == match[2]:
            found[match[1]] = images[match[1]]
        elif copy.is_file():
            found[match[1]] = Image(digest=match[2], media_type=_COPY, path=str(copy))
    return found


def _remember(sent: Mapping[str, Image | str]) -> None:
    """Append a line for each picture; a cache that cannot be written remembers nothing."""
    lines = [f"{digest} {one.digest}\n" for digest, one in sent.items() if isinstance(one, Image)]
    with suppress(OSError):
        _memory().parent.mkdir(parents=True, exist_ok=True)
        with _memory().open("a", encoding="ascii") as file:
            file.write("".join(lines))


def _memory() -> Path:
    return own_folder().parent / f"decoded-{VERSION}.txt"
