"""The child process that renders templates and evaluates expressions; see `templates.child`.

It is run as a file, with jinja2 alone: importing the package would take four times as long.

A request (see `files.child_pool`) is a pickle of ``(kind, text, rows)`` with ``kind`` "template"
or "expression". Each row has a reply of JSON: ``{"ok": value}``, or ``{"failed": class, "message":
text, "line": line of the template}``. A child that exceeds its processor time ends; a lack of
memory is a failure of the row.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]


def main(memory_mb: int, seconds: int, characters: int) -> None:
    """Answer frames until standard input ends.

    Args:
        memory_mb: memory of the process at most.
        seconds: processor time of one frame at most.
        characters: length of one result at most.
    """
    # What a template prints cannot get into the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))
    _write(replies, b"")
    while (frame := _frame(sys.stdin.buffer)) is not None:
        if resource is not None:
            used = resource.getrusage(resource.RUSAGE_SELF)
            spent = int(used.ru_utime + used.ru_stime)
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds + 1, hard))
        kind, text, rows = pickle.loads(frame)  # noqa: S301 - written by the parent
        run = None
        for row in rows:
            try:
                run = run or _runner(kind, text)
                value = run(row)
                if isinstance(value, str) and len(value) > characters:
                    msg = f"the result has {len(value):,} characters; at most {characters:,} may be"
                    raise ValueError(msg)  # noqa: TRY301 - told like other failures of the row
                reply = {"ok": value if kind == "template" else bool(value)}
            except MemoryError:
                reply = {"failed": "MemoryError", "message": "", "line": 1}
            except Exception as error:  # noqa: BLE001 - a template may raise anything
                reply = _failed(error)
            _write(replies, json.dumps(reply).encode())


def _frame(stream: BinaryIO) -> bytes | None:
    head = stream.read(8)
    return stream.read(int.from_bytes(head, "big")) if len(head) == 8 else None  # noqa: PLR2004


def _write(stream: BinaryIO, frame: bytes) -> None:
    stream.write(len(frame).to_bytes(8, "big") + frame)
    stream.flush()


def _runner(kind: str, text: str) -> Callable[[Mapping[str, Any]], Any]:
    if kind == "template":
        render: Callable[[Mapping[str, Any]], Any] = _language.compile_template(text).render
        return render
    evaluate: Callable[[Mapping[str, Any]], Any] = _language.compile_expression(text)
    return evaluate


def _failed(error: Exception) -> dict[str, Any]:
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == "<template>"
    ]
    message = str(getattr(error, "message", None) or error)[:2000]
    return {"failed": type(error).__name__, "message": message, "line": (lines or [1])[-1]}


def _sibling(name: str) -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None  # noqa: S101 - the file exists
    assert spec.loader is not None  # noqa: S101 - it is Python
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    _language = _sibling("language")
    main(*map(int, sys.argv[1:]))
