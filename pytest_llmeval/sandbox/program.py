"""Runs a Python program from standard input; it is only ever started in the sandbox."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program as ``__main__``."""
    program = compile(sys.stdin.read(), "program.py", "exec")
    exec(program, {"__name__": "__main__"})  # noqa: S102 - what the sandbox is for


if __name__ == "__main__":
    main()
