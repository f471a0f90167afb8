"""System calls of Linux that Python has no function for."""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_SET_NO_NEW_PRIVS: Final = 38


def kernel_call(number: int, *arguments: object) -> int:
    """Make a system call, and return its result; OSError when the kernel refuses it."""
    return _result(_libc().syscall(ctypes.c_long(number), *map(_as_long, arguments)))


def process_control(option: int, *arguments: object) -> int:
    """Call ``prctl``, and return its result; OSError when the kernel refuses it.

    Arguments that are not given are 0, as many options demand.
    """
    padded = [*arguments, 0, 0, 0, 0][:4]
    return _result(_libc().prctl(ctypes.c_int(option), *map(_as_long, padded)))


def drop_capabilities() -> None:
    """Give up what root may do beyond its own files; for other users nothing changes.

    Raises:
        OSError: the processor is not known.
    """
    if (number := _CAPSET.get(os.uname().machine)) is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the interface, this process
    kernel_call(number, header, (ctypes.c_uint32 * 6)())


_CAPSET: Final = {"x86_64": 126, "aarch64": 91}


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _as_long(argument: object) -> object:
    """Return the argument, a number as wide as the kernel reads it."""
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
