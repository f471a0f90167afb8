"""Loading of functions by reference: ``./file.py:function`` or ``module:function``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pytest_llmeval.errors import TaskError
from pytest_llmeval.safety.raised import described_with_place
from pytest_llmeval.safety.regular_files import check_regular

MAX_CODE_BYTES: Final = 10_000_000
"""Bytes of a Python file at most."""


def load_callable(reference: str, folder: Path, *, confined: bool = False) -> Callable[..., Any]:
    """Return the function that `reference` names.

    A file is loaded once per process, whether or not its folder is importable.

    Args:
        reference: ``PATH.py:NAME`` or ``MODULE:NAME``.
        folder: where relative paths start.
        confined: whether the file must lie in `folder`.

    Raises:
        TaskError: the reference has another form, the file, module or function does not exist, or
            loading it fails.
    """
    where, _, name = reference.rpartition(":")
    if not where or not name.isidentifier():
        problem = f"{reference!r} is not a function; write ./file.py:function or module:function"
        raise TaskError(problem, file=folder)
    module = (
        _from_file(where, folder, confined=confined)
        if where.endswith(".py")
        else _from_name(where, folder)
    )
    function = getattr(module, name, None)
    if callable(function):
        return function  # type: ignore[no-any-return]  # its types are checked by its callers
    problem = (
        f"has no {name!r}, which {reference!r} names"
        if function is None
        else f"{name!r} is not a function"
    )
    raise TaskError(problem, file=str(module.__file__ or where))


def _from_file(where: str, folder: Path, *, confined: bool) -> ModuleType:
    root = folder.resolve()
    file = (root / where).resolve()
    if confined and not file.is_relative_to(root):
        problem = (
            f"{where!r} leaves the task's folder; "
            "put the file beside the task, or install it as a module"
        )
        raise TaskError(problem, file=folder)
    if not file.exists():
        problem = f"there is no such file ({where!r}, relative to {root})"
        raise TaskError(problem, file=file)
    try:
        check_regular(file, max_bytes=MAX_CODE_BYTES)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise TaskError(problem, file=file) from None
    name = f"llmeval_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        problem = "cannot be loaded as Python"
        raise TaskError(problem, file=file)
    module = importlib.util.module_from_spec(spec)
    # Registered before execution: dataclasses look up their module in sys.modules.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _failed(error, file) from error
    return module


def _from_name(where: str, folder: Path) -> ModuleType:
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        problem = (
            f"there is no module {error.name!r}; "
            "install it, or name a file beside the task as ./file.py:function"
        )
        raise TaskError(problem, file=folder) from None
    except (Exception, SystemExit) as error:
        raise _failed(error, where) from error


def _failed(error: BaseException, file: Path | str) -> TaskError:
    line = error.lineno if isinstance(error, SyntaxError) else None
    return TaskError(f"cannot be loaded: {described_with_place(error)}", file=file, line=line)
