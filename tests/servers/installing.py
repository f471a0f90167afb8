"""Distributions with a provider, laid out as pip does it."""

from __future__ import annotations

from pathlib import Path


def install_provider(site: Path, name: str, version: str, module: str, entry_point: str) -> None:
    """Put a distribution ``llmeval-NAME`` into a folder: the module ``llmeval_NAME`` and its entry point."""
    info = site / f"llmeval_{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (site / f"llmeval_{name}.py").write_text(module, encoding="utf-8")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: llmeval-{name}\nVersion: {version}\n"
    )
    (info / "entry_points.txt").write_text(f"[pytest_llmeval.providers]\n{entry_point}\n")
