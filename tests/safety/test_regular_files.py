"""Every file is read by one reader: regular files only, and never without end."""

from __future__ import annotations

import ast
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import pytest_llmeval
from pytest_llmeval.engine.prices import read_prices
from pytest_llmeval.engine.replies.recording import Recording
from pytest_llmeval.engine.replies.store import ReplyStore
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.json_file import read_json
from pytest_llmeval.files.json_lines import LineFile, read_lines
from pytest_llmeval.records import Image
from pytest_llmeval.results.baseline import read_baseline
from pytest_llmeval.results.gate_file import load_gate
from pytest_llmeval.safety import regular_files
from pytest_llmeval.safety.regular_files import check_regular, open_regular, read_regular
from pytest_llmeval.task import load_task
from pytest_llmeval.task.callables import load_callable
from pytest_llmeval.task.samples import read_samples

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs")


def hostile(folder: Path) -> Iterator[Path]:
    """Yield paths of what is no regular file, with their names' ending left to the caller."""
    os.mkfifo(folder / "fifo")
    yield folder / "fifo"
    yield Path("/dev/zero")
    (folder / "folder").mkdir()
    yield folder / "folder"
    (folder / "link").symlink_to(folder / "fifo")
    yield folder / "link"
    (folder / "loop").symlink_to(folder / "loop")
    yield folder / "loop"
    listening = socket.socket(socket.AF_UNIX)
    with suppress(OSError):  # the path may be too long for a socket
        listening.bind(str(folder / "socket"))
        yield folder / "socket"
    listening.close()


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    for path in hostile(tmp_path):
        for read in (check_regular, open_regular):
            with pytest.raises(OSError, match=r"not a regular file|symbolic links"):
                read(path)


def test_no_more_is_read_than_the_file_had(tmp_path: Path) -> None:
    file = tmp_path / "growing"
    file.write_bytes(b"one\n")
    with open_regular(file) as stream, file.open("ab") as more:
        lines = []
        for line in stream:
            lines.append(line)
            more.write(b"more\n")
            more.flush()
    assert lines == [b"one\n"]


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as stream:
        stream.truncate(10**12)
    with pytest.raises(OSError, match="it has 1,000,000,000,000 bytes; at most 1,000 are read"):
        read_regular(file, max_bytes=1_000)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_files, "MAX_LINE", 1_000)
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"1" * 2_000)
    with pytest.raises(
        UsageError, match=r"rows\.jsonl: cannot be read: it has a line of more than"
    ):
        list(read_lines(file, []))
    with pytest.raises(UsageError, match=r"cannot be read: it has a line of more than 1,000 bytes"):
        Recording(file)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's /proc")
def test_a_file_without_a_size_is_read_up_to_the_limit() -> None:
    assert read_regular("/proc/self/maps", max_bytes=10**7)
    with pytest.raises(OSError, match="more than 10 bytes"):
        read_regular("/proc/self/maps", max_bytes=10)


TASK = 'name: t\ndataset: {path: rows.jsonl}\nprompt: "{{ input }}"\n'
ROW = '{"id": 1, "input": "q", "target": "a", "image": "p.png"}\n'


def _dataset(path: Path) -> None:
    path.with_name("t.yaml").write_text(TASK.replace("rows.jsonl", path.name))
    read_samples(load_task(path.with_name("t.yaml")))


def _prompt(path: Path) -> None:
    prompt = f'prompt: [{{user: {{file: "{path.name}"}}}}]\n'
    path.with_name("t.yaml").write_text(TASK.replace('prompt: "{{ input }}"\n', prompt))
    load_task(path.with_name("t.yaml"))


def _picture(path: Path) -> None:
    path.with_name("t.yaml").write_text(
        TASK.replace("rows.jsonl}", "rows.jsonl, fields: {images: image}}")
    )
    path.with_name("rows.jsonl").write_text(ROW.replace("p.png", path.name))
    read_samples(load_task(path.with_name("t.yaml")))


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a task": ("task.yaml", load_task),
    "a dataset of JSON lines": ("data.jsonl", _dataset),
    "a dataset of JSON": ("data.json", _dataset),
    "a dataset of CSV": ("data.csv", _dataset),
    "a dataset of YAML": ("data.yaml", _dataset),
    "a dataset of Parquet": ("data.parquet", _dataset),
    "a prompt": ("prompt.txt", _prompt),
    "a picture of a row": ("picture.png", _picture),
    "a picture": ("picture.png", Image.load),
    "a Python file": ("own.py", lambda path: load_callable(f"./{path.name}:f", path.parent)),
    "prices": ("prices.yaml", read_prices),
    "a gate": ("gate.yaml", load_gate),
    "a baseline": ("baseline.jsonl", read_baseline),
    "a recording": ("replies.jsonl", Recording),
    "a run's summary": ("summary.json", read_json),
    "a run's rows": ("rows.jsonl", LineFile),
    "a reply store": ("replies.sqlite3", ReplyStore),
}


@pytest.mark.parametrize(("name", "read"), READERS.values(), ids=READERS.keys())
def test_every_reader_refuses_a_fifo_by_name(
    tmp_path: Path, name: str, read: Callable[[Path], object]
) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises((OSError, TaskError, UsageError)) as refused:
        read(tmp_path / name)
    assert name in str(refused.value)


def test_no_other_module_opens_files_for_reading() -> None:
    """Pathlib's `open` and `read_*` read only files of the package itself."""
    allowed = {
        "safety/regular_files.py",  # the one reader
        "files/domain_names.py", "providers/openai/models.py", "report/page.py",
        "scoring/sldp/parser.py",
        "scoring/pddl/parser.py", "domains/heracles/neo4j_jars/locked.py",
        "domains/heracles/questions/schema_text.py", "domains/heracles/questions/task_folder.py",
        "task/rows.py",  # pyarrow wants a file; it is checked before
        "results/keyed_lines.py",  # checked before, and read from the middle
        "domains/heracles/server_process.py",  # the log of our own server
        "providers/vllm/server.py",  # likewise
        "domains/heracles/neo4j_jars/lock.py",  # what Maven has just stored
        "domains/heracles/scene_object.py",  # in the sandbox, what was put there for it
        "domains/heracles/cpu_clock.py",  # the system's own record of a process
    }  # fmt: skip
    root = Path(pytest_llmeval.__file__).parent
    found = set()
    for file in root.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                modes = [one.value for one in node.args if isinstance(one, ast.Constant)]
                reads = node.func.attr in {"read_text", "read_bytes"} or (
                    node.func.attr == "open" and (modes[:1] in (["r"], ["rb"]))
                )
                if reads:
                    found.add(str(file.relative_to(root)))
    assert found <= allowed
