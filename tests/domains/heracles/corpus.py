"""The statements of a corpus file: one a line, `⏎` for a line break, `#` before a remark."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).with_name("data")


def statements(name: str) -> list[str]:
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line and not line.startswith("#")]
