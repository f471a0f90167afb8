"""Distributions laid out on disk as pip does it."""

from __future__ import annotations

from pathlib import Path


def install(  # noqa: PLR0913 - what a distribution consists of
    site: Path, name: str, version: str, module: str, *, group: str, entry_point: str
) -> None:
    """Put a distribution ``llmeval-NAME`` into a folder.

    It holds the module ``llmeval_NAME`` and one entry point, such as ``x = llmeval_NAME:open_x``.
    """
    info = site / f"llmeval_{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (site / f"llmeval_{name}.py").write_text(module, encoding="utf-8")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: llmeval-{name}\nVersion: {version}\n"
    )
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry_point}\n")


def install_provider(site: Path, name: str, version: str, module: str, entry_point: str) -> None:
    """Install a distribution that brings a provider."""
    group = "pytest_llmeval.providers"
    install(site, name, version, module, group=group, entry_point=entry_point)
