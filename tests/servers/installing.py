"""Distributions of others, laid out on disk as pip does it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(
    site: Path, name: str, version: str, module: str, entry_points: Mapping[str, str]
) -> None:
    """Put a distribution ``llmeval-NAME`` with the module ``llmeval_NAME`` into a folder.

    Args:
        site: the folder, which must be on the path.
        name: what follows ``llmeval-``.
        version: the distribution's.
        module: the text of the module.
        entry_points: by group (``pytest_llmeval.GROUP``), lines of the form ``name = value``.
    """
    info = site / f"llmeval_{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (site / f"llmeval_{name}.py").write_text(module, encoding="utf-8")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: llmeval-{name}\nVersion: {version}\n"
    )
    sections = (f"[pytest_llmeval.{group}]\n{line}\n" for group, line in entry_points.items())
    (info / "entry_points.txt").write_text("".join(sections))


def install_provider(site: Path, name: str, version: str, module: str, entry_point: str) -> None:
    """Install a distribution that brings a provider."""
    install(site, name, version, module, {"providers": entry_point})
