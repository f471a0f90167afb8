"""The file of one batch, as much of the waiting requests as it may hold."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, BinaryIO, Final

from pytest_llmeval.engine.batches.ports import BatchService, Sending
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Request

_AT_A_TIME: Final = 100
"""Requests that are written before other work of the event loop has its turn."""


@dataclass(slots=True)
class Part:
    """The requests of one batch, written to a file that has no name, so that no kill leaves it.

    Attributes:
        keys: the keys of the requests in it.
        failed: why requests cannot be written, by key.
    """

    group: str
    file: IO[bytes]
    keys: list[str] = field(default_factory=list)
    failed: dict[str, ProviderError] = field(default_factory=dict)

    def sending(self) -> Sending:
        """Return what describes the batch, with a new mark."""
        mark = uuid.uuid4().hex
        return Sending(mark=mark, group=self.group, created=time.time(), requests=len(self.keys))

    def opened(self) -> BinaryIO:
        """Return the file from its start; closing that leaves this one open."""
        file = os.fdopen(os.dup(self.file.fileno()), "rb")
        file.seek(0)
        return file

    def close(self) -> None:
        """Delete the file."""
        self.file.close()


async def written(service: BatchService, requests: Sequence[Request], most: int) -> Part:
    """Return a file of the first requests that belong in one batch.

    Args:
        service: knows the form of the file.
        requests: at least one; of those of another group than the first one's none is written.
        most: requests at most.
    """
    form, group = service.form, service.group(requests[0])
    part = Part(group, tempfile.TemporaryFile())  # noqa: SIM115 - the part is closed by its user
    size = len(form.start) + len(form.end)
    part.file.write(form.start)
    for count, request in enumerate(requests):
        if len(part.keys) >= min(most, form.requests):
            break
        if service.group(request) != group:
            continue
        try:
            line = service.line(request)
        except ProviderError as error:
            part.failed[request.key] = error
            continue
        if len(form.start) + len(line) + len(form.end) > form.size:
            msg = f"the request takes {len(line):,} bytes, and a batch {form.size:,} at most"
            part.failed[request.key] = ProviderError(f"{msg}; send it without batches")
            continue
        size += len(line) + len(form.between)
        if size > form.size:
            break
        part.file.write((form.between if part.keys else b"") + line)
        part.keys.append(request.key)
        if count % _AT_A_TIME == _AT_A_TIME - 1:
            await asyncio.sleep(0)
    part.file.write(form.end)
    part.file.flush()
    return part
