"""``llmeval view``: the runs in a browser, from a server on this machine."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path
from typing import Final

from pytest_llmeval.commands.console import YES, say, shortest
from pytest_llmeval.commands.session_options import add_options, reports_of, settings_of
from pytest_llmeval.view.server import LocalServer
from pytest_llmeval.view.site import Site

EXAMPLES = ("llmeval view", "llmeval view reports --port 8300 --no-browser")
"""Command lines that the help shows."""

_PORTS: Final = 65_536


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add = parser.add_argument
    add("reports", nargs="?", type=Path, metavar="REPORTS", help="the folder of runs")
    add("--port", type=_port, default=0, metavar="N", help="port on 127.0.0.1 (any that is free)")
    add("--no-browser", action="store_true", help="only print the address")
    add_options(parser, "report")


def run(chosen: argparse.Namespace) -> int:
    """Serve the pages until Ctrl-C."""
    reports = chosen.reports or reports_of(settings_of(chosen))
    site = Site(reports)
    server = LocalServer(site, port=chosen.port)
    say(f"{shortest(reports)}: {server.access.address}")
    say("The address holds the key to these pages: only whoever has it sees them. Ctrl-C ends.")
    sys.stdout.flush()  # a pipe would get the address when the server ends
    if not chosen.no_browser:
        webbrowser.open(server.access.address)
    try:
        server.serve()
    except KeyboardInterrupt:
        say("")
    finally:
        server.close()
    return YES


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) >= _PORTS:
        msg = f"{text!r} is no port: a number from 1 to {_PORTS - 1}, or 0 for any that is free"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
