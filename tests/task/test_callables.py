"""Functions named by a task or a command line."""

from __future__ import annotations

import os.path
import sys
from pathlib import Path

import pytest

from pytest_llmeval.errors import TaskError
from pytest_llmeval.task.callables import load_callable


def test_a_file_beside_the_task_needs_no_import_path(tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text("def double(x):\n    return 2 * x\n")
    assert str(tmp_path) not in sys.path
    assert load_callable("./solver.py:double", tmp_path, confined=True)(21) == 42


def test_a_file_is_loaded_once(tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text(
        "calls = []\ndef one(): return calls\ndef two(): return calls\n"
    )
    one, two = (load_callable(f"./solver.py:{name}", tmp_path) for name in ("one", "two"))
    assert one() is two()


def test_files_of_one_name_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solver.py").write_text(f"def who(): return {name!r}\n")
    assert [load_callable("./solver.py:who", tmp_path / name)() for name in ("a", "b")] == [
        "a",
        "b",
    ]


def test_dataclasses_in_the_file_find_their_module(tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass(slots=True)\nclass Point:\n    x: int\n"
    )
    assert load_callable("./solver.py:Point", tmp_path)(3).x == 3


def test_an_installed_module_is_named_by_its_name(tmp_path: Path) -> None:
    assert load_callable("os.path:join", tmp_path) is os.path.join


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("./none.py:solve", "none.py: there is no such file ('./none.py', relative to "),
        ("./good.py:slove", "good.py: has no 'slove', which './good.py:slove' names"),
        ("./good.py:NUMBER", "good.py: 'NUMBER' is not a function"),
        ("./raises.py:solve", "raises.py: cannot be loaded: ZeroDivisionError: division by zero"),
        ("./exits.py:solve", "exits.py: cannot be loaded: SystemExit: 3"),
        ("./broken.py:solve", "broken.py:2: cannot be loaded: SyntaxError"),
        (
            "no_such_module_here:solve",
            "there is no module 'no_such_module_here'; install it, or name a file",
        ),
        ("./good.py", "is not a function; write ./file.py:function or module:function"),
        ("./good.py:", "is not a function"),
        ("./good.py:a.b", "is not a function"),
        (
            "../outside.py:solve",
            "'../outside.py' leaves the task's folder; put the file beside the task",
        ),
        ("./link.py:solve", "leaves the task's folder"),
    ],
)
def test_what_cannot_be_loaded_says_why_and_what_to_write(
    reference: str, says: str, tmp_path: Path
) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    (tmp_path / "outside.py").write_text("def solve(): pass\n")
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (folder / "good.py").write_text("NUMBER = 3\ndef solve(): pass\n")
    (folder / "raises.py").write_text("1 / 0\n")
    (folder / "exits.py").write_text("raise SystemExit(3)\n")
    (folder / "broken.py").write_text("x = 1\ndef solve(:\n")
    with pytest.raises(TaskError) as refused:
        load_callable(reference, folder, confined=True)
    assert says in str(refused.value)


def test_a_command_line_may_name_a_file_anywhere(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "model.py").write_text("def reply(): return 'hi'\n")
    assert load_callable("../model.py:reply", tmp_path / "folder")() == "hi"
    assert load_callable(f"{tmp_path / 'model.py'}:reply", tmp_path / "folder")() == "hi"


def test_a_file_that_failed_is_tried_again_once_it_is_mended(tmp_path: Path) -> None:
    file = tmp_path / "solver.py"
    file.write_text("1 / 0\n")
    with pytest.raises(TaskError):
        load_callable("./solver.py:solve", tmp_path)
    file.write_text("def solve(): return 'mended'\n")
    assert load_callable("./solver.py:solve", tmp_path)() == "mended"
