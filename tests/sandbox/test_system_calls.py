"""The filter on system calls: its numbers are the kernel's, and each is refused."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from sandboxes import ISOLATIONS, require

from pytest_llmeval.sandbox.isolation import Isolation
from pytest_llmeval.sandbox.run import run_program
from pytest_llmeval.sandbox.system_calls import PROCESSORS, REFUSED

HEADERS = {
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    1: Path("/usr/include/asm-generic/unistd.h"),
}
# Calls without a number on one of the processors, and those that only newer headers name.
DEFINITION = re.compile(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", re.MULTILINE)


@pytest.mark.parametrize("column", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(column: int) -> None:
    if not HEADERS[column].is_file():
        pytest.skip("the kernel's headers are not installed (linux-libc-dev)")
    numbers = {
        name: int(number) for name, number in DEFINITION.findall(HEADERS[column].read_text())
    }
    ours = {name: pair[column] for name, pair in REFUSED.items() if pair[column] is not None}
    assert {
        name: number for name, number in ours.items() if numbers.get(name, number) != number
    } == {}
    # What a processor does not have is None on purpose, and not forgotten.
    assert {
        name for name, pair in REFUSED.items() if pair[column] is None
    } & numbers.keys() == set()


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_each_of_them_is_refused(isolation: Isolation) -> None:
    require(isolation)
    column = PROCESSORS[os.uname().machine][0]
    numbers = [pair[column] for pair in REFUSED.values() if pair[column] is not None]
    program = f"""
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
for number in {numbers}:
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != errno.EPERM:
        print("not refused:", number)
for number in (435, 437, 452, 500, 0x40000000 + 41):
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != errno.ENOSYS:
        print("there:", number)
print("done")
"""
    assert asyncio.run(run_program(program, isolation=isolation)).output == "done\n"
