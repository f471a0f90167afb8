"""What execnet runs in a worker on another machine: xdist's own module, with what differs there.

Its source is sent to the worker. It imports the standard library alone: pytest complains of modules
of its plugins that were imported before it began.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib.util import find_spec
from typing import Any

ROOTS_VARIABLE = "PYTEST_LLMEVAL_WORKER_ROOTS"
"""The variable with the project's folder in the main process and here, in JSON."""

ROOTS = "llmeval-roots"
"""The key of the two folders in what xdist passes to a worker."""


def moved(path: str, old: str, new: str) -> str:
    """Return a path inside the folder `old` as the one inside `new`; others stay as they are."""
    if path == old:
        return new
    inner = path.removeprefix(old.rstrip(os.sep) + os.sep)
    return path if inner == path else new.rstrip(os.sep) + os.sep + inner


class RemoteChannel:
    """The channel to the controller, whose first item is adapted to this machine.

    Paths of the project are those of this machine; modules are found in its installation, not in
    that of the controller; temporary folders are where this machine has them.
    """

    def __init__(self, channel: Any, here: str, there: str) -> None:  # noqa: ANN401 - of execnet
        """Use a channel; the project is `here` in the controller, and `there` beside the worker."""
        self._channel, self._here, self._there = channel, here, there

    def receive(self) -> tuple[dict[str, Any], list[str], dict[str, Any], list[str]]:
        """Return what xdist passes to a worker: values, arguments, options, and `sys.path`."""
        given, arguments, options, _ = self._channel.receive()
        given[ROOTS] = [self._here, self._there]
        options.pop("basetemp", None)
        own = [folder for folder in sys.path if folder]
        return given, [self._argument(one) for one in arguments], options, own

    def _argument(self, argument: str) -> str:
        """Return an argument with its path, if it is one or has one behind ``=``, as it is here."""
        name, equals, value = argument.rpartition("=")
        path, colons, test = value.partition("::")
        return f"{name}{equals}{moved(path, self._here, self._there)}{colons}{test}"

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of execnet's channel
        """Return anything else of the channel."""
        return getattr(self._channel, name)


def serve(channel: Any) -> None:  # noqa: ANN401 - of execnet
    """Be xdist's worker."""
    here, there = json.loads(os.environ.pop(ROOTS_VARIABLE))
    names = {"channel": RemoteChannel(channel, here, there)}
    # By its path: `xdist` itself is one of the plugins that pytest has yet to import.
    found = find_spec("xdist")
    if found is None or not found.submodule_search_locations:
        msg = f"pytest-xdist is not installed for {sys.executable}"
        raise ModuleNotFoundError(msg)
    module = os.path.join(found.submodule_search_locations[0], "remote.py")  # noqa: PTH118 - a text
    runpy.run_path(module, names, run_name="__channelexec__")


if __name__ == "__channelexec__":
    serve(channel)  # type: ignore[name-defined]  # noqa: F821 - execnet defines it
