"""Runs a program as a script on one input; it is only ever started in the sandbox.

Standard input is a JSON object with ``program`` (texts, of which
the first that is Python counts) and ``input``, a text. The program finds the
input on its standard input, and its standard output is this process's.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from types import ModuleType

from pytest_llmeval.scoring.code.source import FILE, compiled, tell


def main() -> None:
    """Run the program as ``__main__``."""
    order = json.load(sys.stdin.buffer)
    with tempfile.TemporaryFile() as file:
        file.write(order["input"].encode("utf-8", "surrogatepass"))
        file.seek(0)
        os.dup2(file.fileno(), 0)
    sys.stdin, sys.argv = open(0, encoding="utf-8"), [FILE]  # noqa: SIM115 - a descriptor
    sys.modules["__main__"] = module = ModuleType("__main__")
    try:
        exec(compiled(order["program"]), module.__dict__)  # noqa: S102 - what the sandbox is for
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - the program may raise anything
        tell(error)
        sys.exit(1)


if __name__ == "__main__":
    main()
