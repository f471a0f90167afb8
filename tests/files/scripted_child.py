"""A child for tests of the pool: it does what each request says."""

from __future__ import annotations

import os
import sys
import time


def frame() -> str:
    return sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(8), "big")).decode()


def write(content: bytes, length: int | None = None) -> None:
    size = len(content) if length is None else length
    sys.stdout.buffer.write(size.to_bytes(8, "big") + content)
    sys.stdout.buffer.flush()


if sys.argv[1] == "absent":
    sys.exit("it does not start")
write(b"")
while request := frame():
    match request.split():
        case ["die"]:
            os._exit(3)
        case ["hang"]:
            time.sleep(600)
        case ["half"]:
            write(b"half", 100)
            os._exit(0)
        case ["boast"]:
            write(b"x", 1 << 60)
        case ["several", count]:
            for number in range(int(count)):
                write(str(number).encode())
        case ["sleep", seconds]:
            time.sleep(float(seconds))
            write(str(os.getpid()).encode())
        case _:
            write(request.encode())
