"""Ways to isolate a program, and which of them this machine has."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Final, TypeAlias

from pytest_llmeval.errors import UsageError
from pytest_llmeval.sandbox.containers import ENGINES, default_image

Isolation: TypeAlias = str
"""``bwrap``: bubblewrap, with namespaces of its own. ``landlock``: what a Linux process can give up
by itself, files by Landlock and system calls by a filter. ``limits``: no isolation.
``docker:IMAGE``, ``podman:IMAGE``: a container for each program."""

_SIMPLE: Final = ("bwrap", "landlock", "limits")

OPTION: Final = "sandbox"
"""Name of the option that chooses: ``--llmeval-sandbox``."""

SCRATCH: Final = "/scratch"
"""The scratch folder as a program in bubblewrap sees it."""

_PACKAGE = Path(__file__).parents[1]

_LIBRARIES = ("/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache")
"""Where systems keep their shared libraries."""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")


def parse_isolation(text: str | None) -> Isolation | None:
    """Return the isolation that the option names, None for the best that there is.

    Raises:
        UsageError: there is none of this name.
    """
    if text is None or text in _SIMPLE:
        return text
    engine, _, image = text.partition(":")
    if engine in ENGINES:
        return f"{engine}:{image or default_image()}"
    forms = ", ".join([*_SIMPLE, *(f"{engine}[:IMAGE]" for engine in ENGINES)])
    msg = f"--llmeval-{OPTION} is {text!r}; expected one of {forms}"
    raise UsageError(msg)


def python() -> str:
    """Return the path of this interpreter outside of any virtual environment."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = Path(sys.base_exec_prefix, "bin", version)
    return str((found if found.is_file() else Path(sys.executable)).resolve())


def library_folders() -> list[str]:
    """Return the folders of installed libraries."""
    paths = (sysconfig.get_path(name) for name in ("purelib", "platlib"))
    return [*dict.fromkeys(str(Path(path).resolve()) for path in paths)]


def readable_paths() -> list[str]:
    """Return what Python itself needs to read: shared libraries, its own, and this package."""
    own = (python(), sys.base_prefix, sys.base_exec_prefix, *library_folders(), str(_PACKAGE))
    return [*dict.fromkeys((*_LIBRARIES, *(str(Path(path).resolve()) for path in own)))]


def bubblewrap(readable: list[str], *, scratch_bytes: int) -> list[str]:
    """Return the command that runs another one in bubblewrap.

    It sees `readable` under their own names, three devices and an empty folder `SCRATCH`; there is
    no network, no ``/proc``, and no process but itself.
    """
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--die-with-parent"]
    command += ["--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    for path in readable:
        if Path(path).is_symlink():  # /lib, where it is a part of /usr
            command += ["--symlink", str(Path(path).readlink()), path]
        else:
            command += ["--ro-bind-try", path, path]
    for device in _DEVICES:
        command += ["--dev-bind", device, device]
    command += ["--size", str(scratch_bytes), "--tmpfs", SCRATCH]
    return [*command, "--remount-ro", "/", "--chdir", SCRATCH, "--"]


def landlock_paths(readable: list[str]) -> list[str]:
    """Return what a program keeps readable that isolates itself."""
    return [*readable, *_DEVICES]
