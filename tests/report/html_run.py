"""A run in files for tests of the HTML report.

It has formulas, a graph, pictures, and texts that attack the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.records import (
    Asked,
    Display,
    FailedCall,
    Image,
    ImagePart,
    Message,
    ModelCall,
    Outcome,
    Reply,
    Row,
    Score,
    StageNote,
    TextPart,
    ToolCall,
    ToolUse,
    Transcript,
    Usage,
)
from pytest_llmeval.report.html import Besides, render_report
from pytest_llmeval.results.run_files import REPORT
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.results.stored_tasks import stored_tasks
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.task_info import ScoreInfo, TaskInfo
from pytest_llmeval.scoring.eed import eed_score

PICTURE = Path(__file__).parents[2] / "fixtures" / "geometry3k" / "images" / "001_hypotenuse.png"

ATTACKS = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=2</script>",
    '<img src="http://127.0.0.1:9/x.png" onerror="window.hacked=3">',
    (
        "<svg onload='window.hacked=4'>"
        "<animate onbegin='window.hacked=5' attributeName=x dur=1s></svg>"
    ),
    (
        "<math><mtext></mtext><mglyph>"
        "<style><img src=x onerror=window.hacked=6></style></mglyph></math>"
    ),
    '<a href="javascript:window.hacked=7">click</a>',
    "javascript:window.hacked=8",
    '"><iframe src="http://127.0.0.1:9/">',
    "<!--<script>--> ]]> {{ 7 * 7 }} {% raw %} ${window.hacked=9}",
    "left\u202ethgir \u2066isolate\u2069 \u200bzero\u00ad",
    "line\u2028separator\u2029 \x00NUL\x1b[2J\x07 \ud800lone",
    r"\href{javascript:window.hacked=10}{x}",
)
ATTACK = " ".join(ATTACKS)
LONG = "A" * 1_000_000


def call(prompt: Message, text: str = "", *, stage: str = "generate", **fields: Any) -> ModelCall:
    """Return a model's call with one message and its reply."""
    usage = Usage(input_tokens=100, output_tokens=50, requests=1, cost=0.01)
    given = {"reply": Reply(text=text, usage=usage, model="physicist-1", latency=2.0), **fields}
    asked = Asked(
        stage=stage,
        role=given.pop("role", "solver"),
        model="openai/small",
        parameters={"temperature": 0},
        messages=(prompt,),
        key="k",
    )
    return ModelCall(asked=asked, **given)


def formula(sample: str, answer: str, target: str, tag: str = "OPTICS") -> tuple[Row, Transcript]:
    """Return a sample that is scored by expression edit distance, in this process."""
    result = eed_score(answer, target)
    score = Score(
        name="EED",
        value=result.score,
        scale=100.0,
        correct=result.score == 100,
        explanation=result.reason,
        grader=result.grader,
        details={
            "reading": result.reading,
            "distance": result.distance,
            "edits": [str(edit) for edit in result.edits],
            "trees": None if result.trees is None else result.trees.to_json(),
        },
    )
    outcome: Outcome = "correct" if score.correct else "incorrect"
    asked = call(
        Message.of("user", f"Find the formula number {sample}."), rf"It is $\boxed{{{answer}}}$"
    )
    fields: dict[str, Any] = {
        "scores": (score,),
        "answer": answer,
        "target": target,
        "tags": (tag,),
        "groups": {"tag": (tag,)},
    }
    return row("physics", sample, outcome, **fields), Transcript(events=(asked,))


def pictured(sample: str = "7", path: Path = PICTURE) -> tuple[Row, Transcript]:
    """Return a sample that asks about a picture and is judged."""
    parts = (ImagePart(image=Image.load(path)), TextPart(text="Find x."))
    asked = call(
        Message(role="user", parts=parts), "Doubling the leg gives x = 12.", stage="question"
    )
    judged = call(
        Message.of("user", "Are 12 and 13 the same?"),
        '{"answer_correct": 0}',
        stage="judge",
        role="judge",
    )
    score = Score(
        name="judge",
        value=0.0,
        correct=False,
        explanation="The numbers differ.",
        grader="judge/1",
        details={
            "tally": {"correct": 0, "incorrect": 1, "lost": 0, "replies": 1},
            "judge": "openai/judge",
        },
    )
    fields: dict[str, Any] = {
        "scores": (score,),
        "answer": "Doubling the leg gives x = 12.",
        "target": r"\sqrt{169}",
    }
    return row("geometry", sample, "incorrect", **fields), Transcript(events=(asked, judged))


def graph(sample: str = "H1") -> tuple[Row, Transcript]:
    """Return a sample that asks a graph database."""
    asked = call(
        Message.of("user", "How many rooms?"), "<answer>MATCH (r:Room) RETURN count(r)</answer>"
    )
    query = ToolUse(
        stage="generate",
        tool="ArcadeDB/1",
        input="MATCH (r:Room) RETURN count(r)",
        output="count(r)\n4",
        count=1,
        seconds=0.02,
        engine="arcadedb",
        stands_in_for="Neo4j",
    )
    note = StageNote(stage="refine", text="the first row was taken")
    score = Score(
        name="SLDP", value=0.0, correct=False, explanation="$: found 4, expected 5", grader="sldp/1"
    )
    fields: dict[str, Any] = {"scores": (score,), "answer": "4", "target": "5", "tags": ("count",)}
    fields |= {"engine": "arcadedb", "stands_in_for": "Neo4j"}
    return row("graph", sample, "incorrect", **fields), Transcript(events=(asked, query, note))


def hostile(attack: str = ATTACK) -> tuple[Row, Transcript]:
    """Return a sample in which model, dataset and provider attack the page by every text."""
    image = Image(digest=attack, media_type="text/html", path="/dev/zero")
    parts = (TextPart(text=attack), ImagePart(image=image), TextPart(text=LONG))
    tool = ToolCall(id=attack, name=attack, arguments=attack)
    asked = call(
        Message(role=attack, parts=parts, tool_calls=(tool,)),
        stage=attack,
        reply=Reply(
            text=attack + LONG, images=(image,), tool_calls=(tool,), model=attack, latency=1.0
        ),
    )
    query = ToolUse(
        stage=attack,
        tool=attack,
        input=attack,
        error=attack,
        cut=attack,
        count=1,
        seconds=1.0,
        engine=attack,
        stands_in_for=attack,
    )
    formula_score = Score(
        name="EED", value=1.0, scale=100.0, correct=False, explanation=attack, grader=attack,
        details={
            "reading": attack, "reason": attack, "distance": 1.0, "tree_size": 2,
            "relative_distance": 0.5, "edits": [attack], "assumptions": [attack],
            "answer": attack, "target": attack,
            "trees": {
                "answer": [[attack, 0, attack]],
                "target": [["x", 0, ""], [attack, 1, "insert"]],
            },
        },
    )  # fmt: skip
    other = Score(
        name=attack, value=0.0, correct=False, explanation=attack + LONG, details={attack: attack}
    )
    fields: dict[str, Any] = {
        "scores": (other, formula_score), "answer": attack, "target": attack,
        "explanation": attack, "worker": attack, "tags": (attack,), "groups": {attack: (attack,)},
        "stop_reason": attack, "details": {attack: attack}, "versions": {attack: attack},
    }  # fmt: skip
    events = (asked, query, StageNote(stage=attack, text=attack))
    return row(attack, attack, "incorrect", model=attack, **fields), Transcript(events=events)


def row(
    task: str, sample: str, outcome: Outcome, *, model: str = "openai/small", **fields: Any
) -> Row:
    """Return a row of ``test_<task>``."""
    test = f"benchmarks/test_{task}.py::test_{task}"
    usage = Usage(input_tokens=100, output_tokens=50, requests=1, cost=0.01)
    made = {"usage": usage, "seconds": 2.0, "stop_reason": "stop", **fields}
    return Row(
        test=test,
        task=task,
        sample=sample,
        model=model,
        epoch=1,
        nodeid=f"{test}[{sample}]",
        outcome=outcome,
        **made,
    )


PHYSICS = TaskInfo(
    title="physics",
    group_by=("tag",),
    scores=(
        ScoreInfo(
            name="EED", scale=100.0, display=Display(formulas=True, trees="trees", efficiency=True)
        ),
    ),
)


def write_report(run_folder: Path, target: Path | None = None, **options: Any) -> Path:
    """Write the report of a stored run and return its path."""
    run = read_run(run_folder)
    summary = summarise(run.rows, stored_tasks(run))
    path = run.path / REPORT if target is None else target
    write_atomically(path, render_report(run, summary, Besides(**options)))
    return path


def write_run(
    reports: Path,
    rows: Iterable[tuple[Row, Transcript | None]],
    *,
    info: Mapping[str, Any] | None = None,
    tasks: Mapping[str, TaskInfo] | None = None,
) -> Path:
    """Write a run and return its folder."""
    made = {
        "settings": {"models": ["openai/small"]},
        "versions": {"python": "3.11"},
        **(info or {}),
    }
    folder = RunFolder.create(reports, made, redactor=Redactor(secrets={}))
    kept: list[Row] = []
    for one, transcript in rows:
        folder.add_row(one)
        kept.append(one)
        if transcript is not None:
            folder.add_transcript(one.key, transcript)
    folder.close()
    summary = summarise(kept, tasks or {"physics": PHYSICS})
    (folder.path / "summary.json").write_text(json.dumps(summary.to_json()), encoding="utf-8")
    return folder.path


def example_run(reports: Path, more: Sequence[tuple[Row, Transcript | None]] = ()) -> Path:
    """Write a run of six formulas, a picture, a graph question, an error and one not run."""
    formulas = [
        formula(str(number), answer, "2a+b", tag)
        for number, (answer, tag) in enumerate(
            [
                ("b+2a", "OPTICS"),
                ("3a+b", "OPTICS"),
                ("a+b", "MECHANICS"),
                ("7", "MECHANICS"),
                ("(", "MODERN"),
            ],
            9,
        )
    ]
    failed = row(
        "graph", "H2", "error", explanation="ProviderError: 503 Service Unavailable", scores=()
    )
    asked = Asked(
        stage="generate", role="solver", model="openai/small", parameters={}, key="k",
        messages=(Message.of("user", "How many doors?"),),
    )  # fmt: skip
    failure = FailedCall(asked=asked, error="503 Service Unavailable")
    skipped = row("graph", "H3", "not run", usage=Usage(), seconds=0.0)
    return write_run(
        reports,
        [
            *formulas,
            pictured(),
            graph(),
            (failed, Transcript(events=(failure,))),
            (skipped, None),
            *more,
        ],
    )
