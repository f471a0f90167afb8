"""A plugin that imports what sessions of pytest may use, and computes what they cache.

It does so in a session that has nothing else to do: pytest's own import hook loads the modules, as
those expect that name them.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from pytest_llmeval.report.page import _environment
from pytest_llmeval.scoring.pddl import parse_pddl
from pytest_llmeval.scoring.sldp import parse_sldp

OTHERS = ("openai", "sqlite3", "xdist.dsession", "xdist.remote", "xdist.workermanage")
"""Modules of others that sessions import when they need them."""

LAYERS = "engine files plugin providers records report results scoring session solvers task"
"""The packages of pytest_llmeval that take part in a session; not the domains."""


def pytest_sessionstart() -> None:
    """Import and compute."""
    for name in (*OTHERS, *modules()):
        importlib.import_module(name)
    parse_sldp("1")
    parse_pddl("True")
    templates = _environment()
    for name in templates.list_templates(["jinja"]):
        templates.get_template(name)
    inspect.getmodule(modules.__code__)  # makes the table of modules that tracebacks need


def modules() -> Iterator[str]:
    """Yield the names of our modules."""
    for layer in LAYERS.split():
        package = importlib.import_module(f"pytest_llmeval.{layer}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield module.name
