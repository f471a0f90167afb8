"""The child in the sandbox that runs a model's program on a scene graph: ``... SCENE``.

Standard input is the program, which defines ``solve_task(G)``. Standard output is one JSON object:
``{"result": text}`` or ``{"problem": text}``. What the program prints goes to standard error. The
program can write there what it likes; it can only change its own answer.
"""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

from pytest_llmeval.domains.heracles import scene_object
from pytest_llmeval.domains.heracles.result_text import result_text

FUNCTION: Final = "solve_task"

_FILE = "program.py"


def main() -> None:
    """Run the program, and write what became of it."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.modules["spark_dsg"] = scene_object
    program = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace").read()
    graph = scene_object.DynamicSceneGraph.load(sys.argv[1])
    try:
        reply = {"result": result_text(_function(program)(graph))}
    except BaseException as error:  # noqa: BLE001 - whatever it raised is the model's to mend
        reply = {"problem": _told(error)}
    sys.stdout.flush()
    answers.write(json.dumps(reply))
    answers.close()


def _function(program: str) -> Callable[[Any], object]:
    """Return the function that the program defines; the names of spark_dsg are there already."""
    names: dict[str, Any] = {"__name__": "program", "DsgLayers": scene_object.DsgLayers}
    exec(compile(program, _FILE, "exec"), names)  # noqa: S102 - what the sandbox is for
    if FUNCTION not in names:
        msg = f"the program defines no function {FUNCTION}(G)"
        raise NameError(msg)
    function: Callable[[Any], object] = names[FUNCTION]
    return function


def _told(error: BaseException) -> str:
    """Return the error, and the line of the program that raised it."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == _FILE
    ]
    where = f" (line {lines[-1]} of the program)" if lines else ""
    return f"{type(error).__name__}: {error}{where}"


if __name__ == "__main__":
    main()
