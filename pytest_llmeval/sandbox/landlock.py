"""Landlock: the Linux kernel's way for a process to give up access to files (5.13 and newer).

It needs no privileges. What is given up here: reading, writing, creating, renaming and deleting all
but the listed files. It does not cover what changes a file's metadata; `system_calls` does.

Source: Documentation/userspace-api/landlock.rst of the kernel.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from pytest_llmeval.sandbox.kernel import kernel_call

# The same numbers on all processors.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_REGULAR, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_READ = _READ_FILE | _READ_DIR
_SCRATCH = _READ | _WRITE_FILE | _REMOVE_FILE | _MAKE_REGULAR | _TRUNCATE
_OF_FILES = _READ_FILE | _WRITE_FILE | _TRUNCATE
"""Rights that a rule about a file, not a folder, may have."""

# Rights that each version of the interface knows: it refuses others. Version 2 added REFER, 3
# TRUNCATE, 5 IOCTL_DEV; those of the network (4) and of signals (6) are not used.
_KNOWN_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1


def landlock_version() -> int:
    """Return the version of the kernel's interface, from 1.

    Raises:
        OSError: the kernel has no Landlock, or it is switched off.
    """
    return kernel_call(_CREATE_RULESET, None, 0, _VERSION_FLAG)


def give_up_files(*, readable: Iterable[str] = (), scratch: str | None = None) -> None:
    """Keep access to `readable` (files and folders, for reading) and to the files in `scratch`.

    In `scratch` no folders, links, sockets or devices can be made. The calling thread must be the
    only one.

    Raises:
        OSError: the kernel has no Landlock, or it is switched off.
    """
    known = _KNOWN_RIGHTS.get(landlock_version(), _ALL_RIGHTS)
    attributes = ctypes.create_string_buffer(struct.pack("=Q", known), 8)
    rules = kernel_call(_CREATE_RULESET, attributes, 8, 0)
    for path in readable:
        _allow(rules, path, _READ & known)
    if scratch is not None:
        _allow(rules, scratch, _SCRATCH & known)
    kernel_call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a rule; a path that does not exist needs none."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _OF_FILES
    attributes = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
    kernel_call(_ADD_RULE, rules, _PATH_BENEATH, attributes, 0)
    os.close(place)
