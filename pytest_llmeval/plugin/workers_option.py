"""The option ``--llmeval-workers``: checks it, and has xdist's workers started elsewhere."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import xdist.plugin

from pytest_llmeval.errors import UsageError
from pytest_llmeval.plugin.remote_workers import RemoteWorkers
from pytest_llmeval.session.key_variables import KNOWN
from pytest_llmeval.workers import relay
from pytest_llmeval.workers.broker_process import BrokerProcess, socket_folder
from pytest_llmeval.workers.code_version import code_version, python_version
from pytest_llmeval.workers.order import Order
from pytest_llmeval.workers.setup import Setup
from pytest_llmeval.workers.spec import WorkersSpec

RESTARTS: Final = 4
"""Lost workers that are replaced, for each that was asked for; as xdist has it for ``-n``."""

_SENT: Final = ("LLMEVAL_", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
"""Beginnings of the names of variables that decide what a worker collects."""


def start_workers(config: pytest.Config, spec: WorkersSpec, keys: frozenset[str]) -> None:
    """Have the workers started, and let xdist use them.

    Args:
        config: pytest's configuration, which xdist reads after this.
        spec: the workers.
        keys: names of variables with keys of models, which no worker gets.

    Raises:
        UsageError: other options say otherwise, or the workers cannot be started.
    """
    check_options(config)
    socket = socket_folder() / "broker"
    config.add_cleanup(lambda: shutil.rmtree(socket.parent, ignore_errors=True))
    spec = _with_address(spec)
    order = Order(
        spec=spec,
        setup=_setup(config, spec, keys),
        python=python_version(),
        package=code_version(),
        socket=str(socket),
    )
    environment = {name: value for name, value in os.environ.items() if name not in keys}
    broker = BrokerProcess(order, environment)
    config.add_cleanup(broker.close)
    hosts = broker.ready()
    config.option.dist = "load" if config.option.dist == "no" else config.option.dist
    config.option.tx = [_transport(socket, slot) for slot in range(spec.count)]
    if config.option.maxworkerrestart is None:
        config.option.maxworkerrestart = str(RESTARTS * spec.count)
    config.pluginmanager.register(RemoteWorkers(config, broker, hosts), "llmeval-workers")


def check_options(config: pytest.Config) -> None:
    """Raise UsageError if another option contradicts ``--llmeval-workers``."""
    option = config.option
    if os.name != "posix":
        _refuse("works on Linux and macOS only")
    if not config.pluginmanager.hasplugin("xdist"):
        _refuse("needs pytest-xdist; leave out -p no:xdist")
    if option.numprocesses is not None:
        _refuse(f"and -n {option.numprocesses} both say where tests run; leave one of them out")
    if option.tx:
        _refuse(f"and --tx {option.tx[0]} both say where tests run; leave one of them out")
    if _typed_dist(config) == "no":
        _refuse("and --dist=no contradict each other; leave one of them out")
    if option.usepdb:
        _refuse("and --pdb do not go together: a debugger needs the tests in this process")


def _refuse(problem: str) -> None:
    hint = "an ini key or variable is switched off by --llmeval-workers none"
    msg = f"--llmeval-workers {problem} ({hint})"
    raise UsageError(msg)


def _typed_dist(config: pytest.Config) -> str | None:
    """Return the value of ``--dist`` as typed, which its default hides; None if it was not."""
    variable = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    words = [*config.getini("addopts"), *variable, *config.invocation_params.args]
    found = None
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = str(word).partition("=")
        if name == "--dist":
            found = value if equals else str(following)
    return found


def _with_address(spec: WorkersSpec) -> WorkersSpec:
    """Return the spec with the address of Ray to use; UsageError if that is none for workers."""
    if spec.command:
        return spec
    address = spec.address or os.environ.get("RAY_ADDRESS") or "auto"
    place = "address=" if spec.address else "RAY_ADDRESS="
    host, _, port = address.rpartition(":")
    if "://" in address:
        _refuse(
            f"ray: {place}{address} is the address of a proxy, through which workers could not "
            "connect back; run pytest on a machine of the cluster, and name its head as HOST:6379"
        )
    if address != "auto" and not (host and port.isdecimal() and int(port) < 1 << 16):
        _refuse(f"ray: {place}{address} is no address; expected HOST:PORT, such as 10.0.0.1:6379")
    return replace(spec, address=address)


def _setup(config: pytest.Config, spec: WorkersSpec, keys: frozenset[str]) -> Setup:
    folder = str(config.invocation_params.dir)
    # Frozen by xdist when Python began: what pytest adds for conftests differs by machine.
    path = [entry or folder for entry in xdist.plugin._sys_path]  # noqa: SLF001 - as xdist sends it
    installed = tuple({sys.prefix, sys.base_prefix, sys.exec_prefix})
    sent = {name: value for name, value in os.environ.items() if name.startswith(_SENT)}
    return Setup(
        folder=folder,
        here=spec.working_dir or folder,
        there=spec.folder or ("" if spec.working_dir else folder),
        path=[one for one in path if not one.startswith(installed) and Path(one).is_dir()],
        environment={name: value for name, value in sent.items() if name not in keys},
        without=sorted(KNOWN | keys),
    )


def _transport(socket: Path, slot: int) -> str:
    """Return the execnet spec of a slot's relay, which imports the standard library alone."""
    words = [sys.executable, "-I", "-S", str(relay.__file__), str(socket), str(slot)]
    return f"popen//python={shlex.join(words)}"
