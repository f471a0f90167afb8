"""Bodies that begin ahead of their turn end as if they had not."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

TASK = """
name: bodies
dataset:
  path: data.jsonl
  fields: {id: id, input: question, target: null, metadata: {acts: acts, end: end}}
prompt: "{{ input }}"
"""

JUDGED = '{"answer_correct": 1, "reason": "the same"}'

# A body follows the script of its sample; what it asks is known by kind, sample and step.
BODIES = r"""
import asyncio, logging, os
import pytest
from pytest_llmeval import Score, record_score

pytestmark = pytest.mark.llmeval("task.yaml")
LOG = logging.getLogger("bodies")

def note(name):
    with open("ran.txt", "a") as ran:
        ran.write(f"{name}\n")

def say(name, value):
    print(f"{name} {value}")
    LOG.warning("%s %s", name, value)

def end(how, name):
    if how == "fail":
        assert name == "well"
    if how == "raise":
        raise ValueError(f"a mistake of {name}")
    if how == "exit":
        raise SystemExit(name)
    if how == "skip":
        pytest.skip("not today")
    if how == "refuse":
        pytest.fail(f"{name} fails by hand")

def score(sample, name, step):
    record_score(Score(name=f"score {step}", value=0.5, correct=None, decides=False))

async def play(sample, completion, llm, judge, name):
    name = f"{name} {sample.id}"
    note(name)
    assert completion.text == f"echo: {sample.input}"
    for step, act in enumerate(sample.metadata["acts"]):
        asked = f"{name} {step}"
        assert ("SET_BY_OWN" in os.environ) == name.startswith("turn")
        say(name, act)
        if act == "call":
            assert (await llm.agenerate(asked)).text == f"echo: {asked}"
        elif act == "blocking":
            assert llm.generate(asked).text == f"echo: {asked}"
        elif act == "thread":
            assert (await asyncio.to_thread(llm.generate, asked)).text == f"echo: {asked}"
            await asyncio.to_thread(score, sample, name, step)
        elif act == "both":
            pair = await asyncio.gather(llm.agenerate(asked), judge.ajudge(
                problem=asked, candidate="a", target="b", votes=1))
            assert pair[1].verdict.correct
        elif act == "score":
            await asyncio.sleep(0)
            score(sample, name, step)
    end(sample.metadata["end"], name)

async def test_coroutine(sample, completion, llm, judge):
    await play(sample, completion, llm, judge, "coroutine")

@pytest.mark.parametrize("word", ["a"])
async def test_word(sample, completion, llm, judge, word):
    await play(sample, completion, llm, judge, f"word {word}")

@pytest.fixture
def own(completion, monkeypatch):
    monkeypatch.setenv("SET_BY_OWN", "1")
    return completion

async def test_at_its_turn(sample, llm, judge, own):
    await play(sample, own, llm, judge, "turn")

@pytest.mark.xfail(reason="as it was")
async def test_expected(sample, completion, llm, judge):
    await play(sample, completion, llm, judge, "expected")

@pytest.fixture(scope="class")
def wide():
    alive = [True]
    yield alive
    alive.clear()

class TestMethods:
    async def test_method(self, sample, completion, llm, judge, wide):
        self.name = f"method {sample.id}"
        await play(sample, completion, llm, judge, "method")
        assert wide and self.name == f"method {sample.id}"

def test_plain(sample, completion, llm, judge):
    name = f"plain {sample.id}"
    count = len(sample.metadata["acts"])
    replies = llm.generate_all([f"{name} {step}" for step in range(count)])
    assert [one.text for one in replies] == [f"echo: {name} {step}" for step in range(count)]
    say(name, count)
    end(sample.metadata["end"], name)

@pytest.mark.timeout(0.4)
async def test_hanging(sample, completion, llm):
    await llm.agenerate(f"hanging {sample.id}")
    if sample.id == "3":
        await asyncio.Event().wait()
"""

# A fixture for each test, so that no body may begin before its turn.
SERIAL = """
import pytest

@pytest.fixture(autouse=True)
def for_each_test():
    pass
"""


ENDS = ("well", "fail", "raise", "skip", "refuse", "exit", "well")
ACTS = ("call", "both", "blocking", "thread", "score", "say")


def files(project: Project, draw: random.Random, *, count: int = len(ENDS)) -> None:
    """Write the task, and a body for each way to end, of which the acts are drawn."""
    project.write("task.yaml", TASK)
    project.write("test_sums.py", BODIES)
    ends = draw.sample(ENDS, len(ENDS))
    scripts = (
        {"acts": draw.choices(ACTS, k=draw.randint(0, 4)), "end": ends[n % len(ends)]}
        for n in range(count)
    )
    rows = ({"id": n, "question": f"q{n}", **one} for n, one in enumerate(scripts))
    project.write_lines("data.jsonl", rows)


def seen(project: Project, server: Any, *mode: str) -> dict[str, Any]:
    """Run all bodies; return reports in their order, outputs, rows and what was asked."""
    server.program(latency=[0.0, 0.03], says={"judge": JUDGED})
    models = (f"openai/m,base_url={server.url}", f"openai/judge,base_url={server.url}")
    arguments = ("--junitxml=all.xml", "-o", "junit_logging=all", "-o", "junit_family=xunit1", "-v")
    result = project.run(
        *arguments, "--llmeval-model", models[0], "--llmeval-judge", models[1], *mode
    )
    # A time-out shows the stacks of other threads, if there are any, before the outcome.
    stacks = r"(?:\++ Timeout \++$.*?^\++ Timeout \++\s+)?"
    told = "\n".join(result.outlines)
    reports = re.findall(rf"^(test_sums\S+) {stacks}([A-Z]+)\b", told, re.MULTILINE | re.DOTALL)
    outputs = {}
    for case in ET.parse(project.path / "all.xml").iter("testcase"):  # noqa: S314 - ours
        key = case.get("classname"), case.get("name")
        texts = "\n".join(each.text or "" for each in case)
        outputs[key] = re.findall(r"^.*?(\w+ (?:\w )?\d (?:\w+))$", texts, re.MULTILINE)
    rows = {
        (row["test"], row["sample"]): (
            row["outcome"],
            row["explanation"],
            sorted(json.dumps(one, sort_keys=True) for one in row["scores"]),
        )
        for row in project.rows()
    }
    (project.path / "ran.txt").rename(project.path / "read.txt")
    return {
        "reports": reports,
        "outputs": outputs,
        "rows": rows,
        "asked": server.report()["attempts"],
        "ran": sorted((project.path / "read.txt").read_text().splitlines()),
    }


@pytest.mark.usefixtures("api_key")
def test_bodies_end_the_same_whether_they_begin_ahead_or_at_their_turn(
    project: Project, model_server: Any
) -> None:
    seed = random.randrange(1_000)
    draw = random.Random(seed)
    files(project, draw)
    ahead = seen(project, model_server, "-p", "no:xdist")
    spread = seen(project, model_server, "-n2", "--dist", draw.choice(["load", "worksteal"]))
    project.write("conftest.py", SERIAL)
    serial = seen(project, model_server, "-p", "no:xdist")
    assert len(serial["reports"]) == len(serial["rows"]) == 7 * 7
    assert {"correct", "error", "incorrect", "not run"} <= {
        row[0] for row in serial["rows"].values()
    }
    assert set(serial["asked"].values()) == {1}
    assert len(serial["ran"]) == len(set(serial["ran"])) == 7 * 5
    assert ahead == serial, f"seed {seed}"
    assert {**spread, "reports": None} == {**serial, "reports": None}, f"seed {seed}"


# The first body ends only if others begin before it has ended.
STOPPED = """
import asyncio
import pytest

pytestmark = pytest.mark.llmeval("task.yaml")
begun = []

async def test_body(sample, completion, llm):
    begun.append(sample.id)
    async with asyncio.timeout(30):
        while len(begun) < 3:
            await asyncio.sleep(0.01)
    try:
        await llm.agenerate(f"first {sample.id}")
        await llm.agenerate(f"second {sample.id}")
    finally:
        with open("ended.txt", "a") as ended:
            ended.write(f"{sample.id} ")
    assert sample.id != "2"
"""


@pytest.mark.usefixtures("api_key")
def test_bodies_that_never_come_to_their_turn_are_few_and_end_and_are_not_paid_twice(
    project: Project, model_server: Any
) -> None:
    files(project, random.Random(0), count=40)
    project.write("test_sums.py", STOPPED)
    model_server.program(latency=0.02)
    model = f"openai/m,base_url={model_server.url},concurrency=4"
    mode = ("-p", "no:xdist", "--llmeval-concurrency", "4", "--llmeval-model", model)
    project.run(*mode, "-x").assert_outcomes(passed=2, failed=1)
    asked = [prompt.split() for prompt in model_server.report()["attempts"]]
    begun = {words[1] for words in asked if words[0] == "first"}
    assert {"0", "1", "2"} <= begun
    assert len(begun) <= 3 + 4
    ended = (project.path / "ended.txt").read_text().split()
    assert sorted(ended) == sorted(set(ended))
    assert begun <= set(ended)
    project.run(*mode, "--llmeval-resume", "latest").assert_outcomes(passed=39, failed=1)
    attempts = model_server.report()["attempts"]
    assert len(attempts) == 3 * 40
    assert set(attempts.values()) == {1}


AGAIN = """
import pytest

pytestmark = pytest.mark.llmeval("task.yaml")
ran = {}

@pytest.mark.flaky(reruns=1)
async def test_again(sample, completion, llm):
    ran[sample.id] = ran.get(sample.id, 0) + 1
    await llm.agenerate(f"again {sample.id}")
    assert ran[sample.id] == 2
"""


@pytest.mark.usefixtures("api_key")
def test_a_body_that_runs_again_begins_anew_and_asks_the_store(
    project: Project, model_server: Any
) -> None:
    files(project, random.Random(0))
    project.write("test_sums.py", AGAIN)
    model_server.program()
    model = f"openai/m,base_url={model_server.url}"
    result = project.run("-p", "no:xdist", "--llmeval-model", model)
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(["*7 rerun*"])
    assert set(model_server.report()["attempts"].values()) == {1}


BLOCKING = """
import asyncio, time
import pytest

@pytest.mark.timeout(1)
@pytest.mark.llmeval("task.yaml")
async def test_in_time(sample, completion, llm):
    await llm.agenerate(f"in time {sample.id}")
    if sample.id == "1":
        time.sleep(60)
    if sample.id == "2":
        await asyncio.sleep(60)
"""


@pytest.mark.usefixtures("api_key")
def test_the_time_out_ends_the_body_that_blocks_and_not_the_one_whose_turn_it_is(
    project: Project, model_server: Any
) -> None:
    files(project, random.Random(0), count=4)
    project.write("test_sums.py", BLOCKING)
    model_server.program()
    model = f"openai/m,base_url={model_server.url}"
    project.run("-p", "no:xdist", "--llmeval-model", model)
    assert project.outcomes() == {"0": "correct", "1": "error", "2": "error", "3": "correct"}


@pytest.fixture
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a key for the local server."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
