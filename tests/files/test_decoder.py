"""Pictures are decoded in few children, each with its limits; none is decoded in this process."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from files.made_pictures import encoded, noise
from files.peak_memory import growth
from PIL import Image as Pillow

from pytest_llmeval.files import decoder, picture_child
from pytest_llmeval.files.child_pool import ChildPool
from pytest_llmeval.files.images import check_picture, decoded
from pytest_llmeval.files.picture_header import PIXEL_LIMIT

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


def children() -> list[int]:
    """Return the numbers of the children of this process that decode."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            decodes = b"picture_child.py" in (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == os.getpid() and decodes:
            found.append(int(folder.name))
    return found


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the children little of all."""
    decoder._pool().close()
    script = Path(picture_child.__file__)
    pool = ChildPool(
        script, (200, 0, PIXEL_LIMIT, 2_048), processes=1, wall_seconds=1.5, max_reply=1 << 30
    )
    monkeypatch.setattr(decoder, "_pool", lambda: pool)
    yield
    pool.close()


@ON_LINUX
def test_two_hundred_requests_at_a_time_use_few_children_and_little_memory() -> None:
    decoder._pool().close()
    data, seen, over = noise("PNG", 500, 400), set[int](), threading.Event()
    most = 0

    def watch() -> None:
        nonlocal most
        while not over.wait(0.2):
            now = children()
            seen.update(now)
            most = max(most, len(now))

    watcher = threading.Thread(target=watch)
    watcher.start()
    sizes = set[int]()

    def ask_for_all() -> None:
        with ThreadPoolExecutor(200) as threads:
            sizes.update(threads.map(lambda _: len(decoded(data).data), range(40)))
            list(threads.map(check_picture, [noise("GIF")] * 160))

    grown = growth(ask_for_all)
    over.set()
    watcher.join()
    assert sizes == {500 * 400 * 3}
    assert 1 <= most <= decoder.PROCESSES <= (os.cpu_count() or 1)
    assert len(seen) <= decoder.PROCESSES, "they were not replaced"
    assert grown < 60_000, "kilobytes: 40 pictures of 600 and the threads"
    for number in children():
        limits = Path(f"/proc/{number}/limits").read_text()
        assert f"Max address space         {decoder.MEMORY_MB << 20}" in limits


@ON_LINUX
def test_a_picture_that_ends_its_decoder_is_told_and_the_next_is_decoded() -> None:
    decoder._pool().close()
    large = noise("PNG", 600, 600)
    check_picture(noise("PNG"))
    (child,) = children()
    os.kill(child, signal.SIGSTOP)
    (taken,) = decoder._pool()._idle
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(check_picture, large)
        while not any(fcntl.ioctl(taken._stdin, termios.FIONREAD, bytes(4))):
            time.sleep(0.01)  # until some of the picture lies before the child
        os.kill(child, signal.SIGKILL)
        with pytest.raises(ValueError, match="damaged picture: it ends its decoder"):
            asked.result()
    check_picture(large)


@ON_LINUX
@pytest.mark.usefixtures("limited")
class TestLimits:
    def test_a_picture_that_takes_too_much_memory_is_told(self) -> None:
        with pytest.raises(ValueError, match="it takes more than 200 MB of memory to decode"):
            check_picture(encoded(Pillow.new("1", (7_000, 7_000)), "PNG"))
        check_picture(noise("PNG"))

    def test_a_decoder_that_hangs_is_told_as_the_picture_s_time(self) -> None:
        check_picture(noise("PNG"))
        (child,) = children()
        os.kill(child, signal.SIGSTOP)
        with pytest.raises(ValueError, match="it takes more than 30 s to decode"):
            check_picture(noise("PNG"))
        check_picture(noise("PNG"))

    def test_a_picture_that_takes_too_much_of_the_processor_is_told(self) -> None:
        # Two thousand scans of a progressive picture, each of which is decoded over all of it.
        data = encoded(Pillow.new("L", (2_000, 2_000)), "JPEG", progressive=True)
        scan = data.rindex(b"\xff\xda")
        with pytest.raises(ValueError, match="it takes more than 30 s to decode"):
            check_picture(data[:-2] + data[scan:-2] * 2_000 + data[-2:])


@ON_LINUX
@pytest.mark.parametrize(
    "deed",
    [
        "open('/etc/hostname')",
        "open('left-behind', 'w')",
        "os.listdir('/')",
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "os.kill(os.getppid(), 9)",
        "bytearray(1 << 30)",
    ],
)
def test_a_decoder_with_a_hole_reaches_nothing(tmp_path: Path, deed: str) -> None:
    code = (
        "import os, socket\n"
        "from pytest_llmeval.files.picture_child import Bounds, seal\n"
        "seal(Bounds(memory_mb=500, cpu_seconds=1, pixels=1, side=1))\n"
        f"try: {deed}\nexcept (OSError, MemoryError): print('refused')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ended.stdout == "refused\n", ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_this_process_never_imports_pillow() -> None:
    code = (
        "import sys\n"
        "from pytest_llmeval.files.images import check_picture, decoded\n"
        f"data = bytes.fromhex('{noise('PNG').hex()}')\n"
        "check_picture(data)\nassert len(decoded(data).data) == 40 * 30 * 3\n"
        "print(sorted(name for name in sys.modules if name.startswith('PIL')))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.stdout == "[]\n", ended.stderr
