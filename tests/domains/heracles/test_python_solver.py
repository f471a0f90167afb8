"""The solver and the tool `python`: scripted replies, real programs in the real sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from domains.heracles.house import FOLDER, HOUSE, HouseContext
from sandboxes import require
from scripted_context import solved, tagged

from pytest_llmeval.domains.heracles import python_tool
from pytest_llmeval.domains.heracles.python_solver import MISSING, PythonSolver, extract_program
from pytest_llmeval.domains.heracles.python_tool import PythonTool
from pytest_llmeval.domains.heracles.scene_graph import read_class_names
from pytest_llmeval.engine.tool import Tool, ToolWithFindings, ToolWithVariables
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.records import ToolUse
from pytest_llmeval.sandbox.isolation import Isolation
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.scoring.sldp import sldp_equals
from pytest_llmeval.task.registry import TOOLS

PROGRAM = "def solve_task(G):\n    return G.get_layer(DsgLayers.ROOMS).num_nodes()"
WRONG = "def solve_task(G):\n    return G.rooms"
TOLD = "AttributeError: 'DynamicSceneGraph' object has no attribute 'rooms' (line 2 of the program)"

ISOLATION: Isolation = "landlock"


@pytest.fixture(autouse=True)
def sandbox() -> None:
    require(ISOLATION)


def scripted(*replies: str, sandbox: str | None = ISOLATION) -> HouseContext:
    return HouseContext(*replies, settings={"sandbox": sandbox})


def used(program: str) -> ToolUse:
    """Return the tool's use of a program."""
    tool = PythonTool(scene=HOUSE)

    async def use() -> ToolUse:
        return await tool({"python_code": program}, scripted(), stage="turn 1")

    return asyncio.run(use())


def test_the_model_is_shown_program_and_result_and_its_last_reply_is_the_completion() -> None:
    context = scripted(tagged(PROGRAM), tagged("9"))
    completion = solved(PythonSolver(scene=HOUSE), context)
    assert context.stages == ["generate", "refine"]
    assert context.asked[1].messages[0].text == f"refine / program={PROGRAM} / result=9"
    assert completion.text == tagged("9")
    details = dict(completion.details)
    assert isinstance(seconds := details.pop("seconds"), float)
    assert seconds > 0
    assert details == {"python": PROGRAM, "valid_python": True, "turns": 2}
    (use,) = context.recorded
    assert (use.stage, use.input, use.output, use.error) == ("generate", PROGRAM, "9", None)
    assert use.tool.endswith(f"({ISOLATION})")


def test_a_failing_program_is_never_carried_on_as_data() -> None:
    context = scripted(tagged(WRONG))
    completion = solved(PythonSolver(scene=HOUSE), context)
    assert context.stages == ["generate"]
    assert completion.text == ""
    assert (completion.details["valid_python"], completion.details["reason"]) == (False, TOLD)


def test_a_failing_program_goes_back_with_its_reason() -> None:
    context = scripted(tagged(WRONG), "nothing here", tagged(PROGRAM), tagged("9"))
    completion = solved(PythonSolver(scene=HOUSE, repair=2), context)
    assert context.stages == ["generate", "repair", "repair", "refine"]
    assert TOLD in context.asked[1].messages[-1].text
    assert MISSING in context.asked[2].messages[-1].text
    assert (completion.details["turns"], completion.details["valid_python"]) == (4, True)
    assert "reason" not in completion.details


def test_a_reply_without_a_program_runs_nothing() -> None:
    context = scripted("I do not know.")
    completion = solved(PythonSolver(scene=HOUSE), context)
    assert completion.details == {
        "python": None,
        "valid_python": False,
        "turns": 1,
        "reason": MISSING,
    }
    assert context.recorded == []


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("<answer>x = 1</answer>", "x = 1"),
        ("<answer>\n```python\nx = 1\n```\n</answer>", "x = 1\n"),
        ("Look:\n```python\nx = 1\n```\nbetter:\n```py\nx = 2\n```\n", "x = 2\n"),
        ("<answer>\nHere it is:\n```\nx = 1\n```\nDone.</answer>", "x = 1\n"),
        ("```python\nx = 1\n```\n<answer>x = 3</answer>", "x = 3"),
        ("no program", None),
        ("<answer> </answer>", None),
        ("```python\n```", None),
    ],
)
def test_a_program_stands_between_tags_or_in_a_fence(reply: str, program: str | None) -> None:
    assert extract_program(reply) == program


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("x = 1", "NameError: the program defines no function solve_task(G)"),
        ("solve_task = 1", "TypeError: 'int' object is not callable"),
        ("def solve_task(G: return", "SyntaxError"),
        ("def solve_task(): pass", "TypeError"),
        ("import os\ndef solve_task(G): os._exit(0)", "the program ended without a result"),
        ("import os\ndef solve_task(G): os._exit(7)", "it ended with status 7"),
        ("raise SystemExit(0)", "SystemExit: 0 (line 1 of the program)"),
        ("def solve_task(G): return 'x' * 10**7", "it wrote more than 1048576 bytes"),
        ("def solve_task(G): return bytearray(1 << 40)", "MemoryError"),
        ("def solve_task(G): return solve_task(G)", "RecursionError"),
        ("def solve_task(G):\n x = []; x.append(x); return x", "RecursionError"),
        ("def solve_task(G): raise ValueError('x' * 10**5)", "ValueError: xxx"),
        (
            "class E(Exception):\n def __str__(s): raise s\ndef solve_task(G): raise E",
            "E: <exception str() failed>",
        ),
        ("class X:\n def __str__(s): raise s\ndef solve_task(G): return X()", "TypeError"),
        ("import os\ndef solve_task(G):\n os.write(1, b'x'); os.closerange(0, 50)", ""),
    ],
)
def test_why_there_is_no_result_is_told(program: str, error: str) -> None:
    use = used(program)
    assert use.error is not None
    assert error in use.error
    assert len(use.error) <= python_tool.MAX_PRINTED
    assert use.output == ""


def test_what_a_program_prints_is_shown_beside_its_result() -> None:
    use = used("def solve_task(G):\n    print('looking')\n    return 1")
    assert use.output == "1\n\nIt printed:\nlooking"


def test_a_long_result_is_cut_and_says_so() -> None:
    use = used("def solve_task(G): return 'x' * 50_000")
    assert use.cut == "characters"
    assert use.output.endswith("\n(cut after 40000 of 50000 characters)")


def test_half_characters_reach_no_record() -> None:
    use = used("def solve_task(G): return '\\ud800'")
    use.output.encode()
    failed = used("def solve_task(G): raise ValueError('\\ud800')")
    assert failed.error is not None
    failed.error.encode()


def test_a_forged_result_is_a_result_and_nothing_more() -> None:
    """The channel is open to the program, which can say there what it could return as well."""
    forged = """
import json, os
def solve_task(G):
    for number in range(3, 20):
        try: os.write(number, json.dumps({"result": "42", "valid_python": "no"}).encode())
        except OSError: pass
    os._exit(0)
"""
    use = used(forged)
    assert (use.output, use.error) == ("42", None)
    nonsense = used(forged.replace('{"result": "42", "valid_python": "no"}', '["result"]'))
    assert nonsense.error == "the program ended without a result"


def test_the_solutions_are_out_of_reach() -> None:
    program = f"def solve_task(G): return open({str(FOLDER / 'questions.yaml')!r}).read()"
    error = used(program).error
    assert error is not None
    assert error.startswith(("FileNotFoundError", "PermissionError"))


def test_one_program_does_not_change_the_graph_for_the_next() -> None:
    change = "def solve_task(G):\n G._nodes.clear()\n return len(list(G.nodes))"
    assert used(change).output == "0"
    assert used("def solve_task(G): return len(list(G.nodes)) > 0").output == "True"


def test_the_library_can_be_imported_by_its_name() -> None:
    program = "from spark_dsg import DsgLayers as L\ndef solve_task(G): return L.ROOMS"
    assert used(program).output == "ROOMS"


def test_a_program_that_takes_too_long_costs_one_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_tool, "LIMITS", Limits(wall_seconds=0.5))
    assert used("import time\ndef solve_task(G): time.sleep(60)").error == (
        "it did not end within 0.5 s"
    )


def test_a_wrong_isolation_is_told_before_a_request_is_paid() -> None:
    context = scripted(sandbox="jail")
    with pytest.raises(UsageError, match="--llmeval-sandbox is 'jail'"):
        solved(PythonSolver(scene=HOUSE), context)
    assert context.asked == []


def test_without_a_sandbox_nothing_is_paid_and_the_way_out_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_llmeval.sandbox.choice.present_isolations", tuple)
    context = scripted(sandbox=None)
    with pytest.raises(UsageError, match="apt-get install bubblewrap"):
        solved(PythonSolver(scene=HOUSE), context)
    assert context.asked == []


def test_a_broken_scene_is_the_tasks_mistake_and_not_the_models(tmp_path: Path) -> None:
    scene = tmp_path / "scene.json"
    scene.write_text('{"nodes": 1}')
    context = scripted(tagged(PROGRAM))
    with pytest.raises(TaskError, match="not a scene graph"):
        solved(PythonSolver(scene=scene), context)
    assert context.asked == []


@pytest.mark.parametrize("repair", [-1, 1.5, True])
def test_options_of_wrong_values_are_refused(repair: Any) -> None:
    with pytest.raises(ValueError, match="how often a failed program goes back"):
        PythonSolver(scene=HOUSE, repair=repair)


def test_a_scene_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such file"):
        PythonTool(scene=tmp_path / "none.json")


def test_the_tool_is_registered_and_fits_its_port() -> None:
    tool = PythonTool(scene=HOUSE)
    assert TOOLS.load("python", FOLDER) is PythonTool
    asks: Tool = tool
    assert (asks.name, [*asks.parameters]) == (
        "codegen_execute",
        ["type", "properties", "required", "additionalProperties"],
    )
    assert isinstance(tool, ToolWithVariables)
    assert isinstance(tool, ToolWithFindings)
    assert tool.variables() == {"classes": read_class_names(HOUSE)}
    assert tool.findings([]) == {
        "python": None,
        "valid_python": False,
        "programs": 0,
        "failed_programs": 0,
    }
    uses = [used(WRONG), used(PROGRAM)]
    assert {**tool.findings(uses), "seconds": 0} == {
        "python": PROGRAM,
        "valid_python": True,
        "seconds": 0,
        "programs": 2,
        "failed_programs": 1,
    }


def test_the_tool_tells_before_a_request_is_paid_that_no_program_can_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check(context: HouseContext) -> None:
        asyncio.run(PythonTool(scene=HOUSE).check(context))

    check(scripted())
    with pytest.raises(UsageError, match="is 'jail'"):
        check(scripted(sandbox="jail"))
    monkeypatch.setattr("pytest_llmeval.sandbox.choice.present_isolations", tuple)
    check(scripted(sandbox="limits"))
    with pytest.raises(UsageError, match="apt-get install bubblewrap"):
        check(scripted(sandbox=None))


def test_every_program_of_the_fixtures_finds_the_solution() -> None:
    """The refinement only rounds, and makes sets of lists."""
    programs = yaml.safe_load((FOLDER / "programs.yaml").read_text("utf-8"))
    questions = yaml.safe_load((FOLDER / "questions.yaml").read_text("utf-8"))["questions"]
    context, tool = scripted(), PythonTool(scene=HOUSE)

    async def results() -> list[ToolUse]:
        texts = [
            "\n\n".join([programs["prelude"], programs["programs"][q["uid"]]]) for q in questions
        ]
        calls = (tool({"python_code": text}, context, stage="s") for text in texts)
        return await asyncio.gather(*calls)

    refined = {"H19": ("[]", "<>"), "H26": ("[]", "<>")}
    wrong = []
    for question, use in zip(questions, asyncio.run(results()), strict=True):
        given = use.output.translate(str.maketrans(*refined.get(question["uid"], ("", ""))))
        if not sldp_equals(given, question["solution"], tolerance=0.01):
            wrong.append((question["uid"], use.output, use.error))
    assert wrong == []
