"""A run over a small task: completions with transcript and judge, errors, and what ends it."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from engine.small_task import plan_of, write_task
from engine.virtual_time import run

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.replies import ReplyStore
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.run import Pace, Run
from pytest_llmeval.engine.sample_run import Surroundings
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.engine.solving import Solving
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.errors import (
    LLMEvalError,
    ModelLost,
    ProviderError,
    Reach,
    RunStopped,
    ScorerError,
    TaskError,
    ToolError,
    UsageError,
)
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.guard import GuardedProvider
from pytest_llmeval.records import (
    Completion,
    FailedCall,
    Message,
    Reply,
    Request,
    RowKey,
    Sample,
    StageNote,
    Transcript,
    Verdict,
)
from pytest_llmeval.records.error_json import error_from_json
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.task.callables import load_callable
from pytest_llmeval.task.catalog import Catalog

Answer = Callable[[Request], Any]


def echo(request: Request) -> str:
    """Answer questions with their own words, and judges' with a verdict."""
    if request.role == "judge":
        return '{"answer_correct": 1, "reason": "the same"}'
    return request.messages[-1].text


class Bench:
    """A run of one task against one model that answers by a function."""

    def __init__(  # noqa: PLR0913 - each has its default, and a test names the one that it is about
        self,
        folder: Path,
        answer: Answer = echo,
        *,
        more: str = "",
        samples: int = 3,
        budget: Budget | None = None,
        sample_timeout: float | None = None,
    ) -> None:
        """Write the task and plan all of its samples."""
        self.sample_timeout = sample_timeout
        self.file = write_task(folder, more=more, samples=samples)
        self.catalog = Catalog(folder=folder)
        self.plan = plan_of(self.catalog.load(self.file), model="openai/m")
        self.folder, self.answer, self.budget = folder, answer, budget or Budget()
        self.asked: list[Request] = []
        self.told: list[str] = []
        self.judging_takes = 1.0
        self.transcripts: dict[RowKey, Transcript] = {}

    def run(self, use: Callable[[Run], Coroutine[Any, Any, None]]) -> None:
        """Open the run, use it in virtual time, and close it."""

        async def main() -> None:
            opened = self.open()
            try:
                await use(opened)
            finally:
                await opened.close("over")

        run(main())

    def open(self, plan: Plan | None = None) -> Run:
        return Run(
            plan=plan or self.plan,
            catalog=self.catalog,
            models=Models(self.open_gateway, ReplyStore(None)),
            choice=ModelChoice(
                self.catalog,
                models=("openai/m",),
                roles={"judge": ("openai/judge",)},
                seed=None,
                folder=self.folder,
            ),
            around=Surroundings(
                image_store=ImageFolder(self.folder / "images"),
                resources=Resources(),
                settings={"place": "here"}.get,
                tell=self.told.append,
            ),
            pace=Pace(window=8, sample_timeout=self.sample_timeout),
            keep_transcript=self.transcripts.__setitem__,
        )

    def open_gateway(self, spec: ModelSpec) -> Gateway:
        statistics = CallStatistics()
        limits = Limiter(4, statistics=statistics)
        provider = GuardedProvider(self.reply, name=spec.label)
        return Gateway(
            provider,
            name=spec.label,
            limits=limits,
            budget=self.budget,
            timeout=60,
            statistics=statistics,
        )

    async def reply(self, request: Request) -> str | Reply:
        self.asked.append(request)
        await asyncio.sleep(self.judging_takes if request.role == "judge" else 1)
        answered: str | Reply = self.answer(request)
        return answered

    async def solve(self, opened: Run, sample: int) -> Solved:
        return Solved.of(await opened.answer("", "completion", {"nodeid": f"t.py::t[{sample}]"}))

    async def complete(self, opened: Run, sample: int) -> Completion:
        return (await self.solve(opened, sample)).completion


def fail(message: str) -> Answer:
    def answer(_: Request) -> str:
        raise ProviderError(message, reach="model" if "model" in message else "sample")

    return answer


def test_a_completion_carries_answer_and_transcript(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, lambda _: "thinking\n42", more="answer: last_line\ngenerate: {temperature: 0}\n"
    )

    async def use(opened: Run) -> None:
        completion = await bench.complete(opened, 1)
        assert (completion.text, completion.answer) == ("thinking\n42", "42")
        (call,) = completion.transcript.calls
        assert (call.asked.stage, call.asked.model, call.asked.parameters) == (
            "generate",
            "openai/m",
            {"temperature": 0},
        )
        assert call.asked.messages[0].text == "what is 1?"

    bench.run(use)
    assert bench.transcripts[bench.plan.tests[1].key].calls


JUDGED = "scorer: {judge: {prefilter: false}}\n"


def judge_wish(nodeid: str, candidate: str, **options: Any) -> dict[str, Any]:
    """Return the wish of a test's body for the judgement on a candidate."""
    return {
        "nodeid": nodeid,
        "scorer": ["judge", options],
        "sample": Sample(id="1", input="what is 1?", target="1").to_json(),
        "completion": Completion(text=candidate, answer=candidate).to_json(),
    }


def test_the_judge_is_asked_right_behind_the_answer_and_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, more=JUDGED)
    same = Verdict(correct=True, reason="the same")

    async def use(opened: Run) -> None:
        solved = await bench.solve(opened, 1)
        calls = solved.completion.transcript.calls
        assert [call.asked.role for call in calls] == ["solver", "judge"]
        assert Judgement.from_json(solved.prepared_by("judge")).verdict == same
        wish = judge_wish("t.py::t[1]", "what is 1?")
        prepared: Any = await opened.answer("", "prepare", wish)
        assert Judgement.from_json(prepared["prepared"]).verdict == same
        assert [call.cached for call in Transcript.from_json(prepared["transcript"]).calls] == [
            True
        ]

    bench.run(use)
    texts = [request.messages[-1].text for request in bench.asked if request.role == "judge"]
    assert len(texts) == len(set(texts)) == 3


def test_what_a_body_has_prepared_is_appended_to_the_samples_transcript(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    async def use(opened: Run) -> None:
        solved = await bench.solve(opened, 1)
        wish = judge_wish("t.py::t[1]", "2", prefilter=False)
        wish["completion"] = solved.completion.to_json()
        await opened.answer("", "prepare", wish)

    bench.run(use)
    calls = bench.transcripts[bench.plan.tests[1].key].calls
    assert [call.asked.role for call in calls] == ["solver", "judge"]


def test_a_judges_failure_leaves_the_completion_and_is_raised_where_the_answer_is_scored(
    tmp_path: Path,
) -> None:
    def answer(request: Request) -> str:
        return fail("judge down")(request) if request.role == "judge" else "x"

    bench = Bench(tmp_path, answer, more=JUDGED)

    async def use(opened: Run) -> None:
        solved = await bench.solve(opened, 1)
        assert solved.completion.answer == "x"
        failed = solved.completion.transcript.events[-1]
        assert isinstance(failed, FailedCall)
        assert failed.asked.role == "judge"
        with pytest.raises(ProviderError, match="judge down"):
            solved.prepared_by("judge")

    bench.run(use)


@pytest.mark.parametrize("reach", ["sample", "attempt"])
def test_poisonous_requests_to_a_judge_cost_the_verdicts_of_their_own_rows(
    tmp_path: Path, reach: Reach
) -> None:
    def answer(request: Request) -> str:
        asked = request.messages[-1].text
        if request.role == "judge" and any(f"<{n}>" in asked for n in range(8)):
            msg = "no"
            raise ProviderError(msg, reach=reach, status=429, cause="429")
        return echo(request) if request.role == "judge" else f"<{re.findall('[0-9]+', asked)[0]}>"

    bench = Bench(tmp_path, answer, more=JUDGED, samples=30)

    async def use(opened: Run) -> None:
        for n in range(30):
            solved = await bench.solve(opened, n)
            assert solved.completion.text == f"<{n}>"
            if n < 8:
                with pytest.raises((ProviderError, ModelLost)):
                    solved.prepared_by("judge")
            else:
                assert Judgement.from_json(solved.prepared_by("judge")).verdict is not None

    bench.run(use)


SCORER = """
class Mine:
    name, grader, scale, only_incorrect, models = "mine", "mine/1", 1.0, False, ()
    def check(self, target): ...
    async def prepare(self, sample, completion, context):
        {body}
    def score(self, answer, sample, prepared): ...
"""


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("return {}['missing']", "scorer mine, sample '1': KeyError: 'missing'"),
        ("return {'seen': {1}}", r"sample '1', scorer 'mine'\['seen'\] is a set, not plain JSON"),
        ("raise SystemExit(3)", "scorer mine, sample '1': SystemExit: 3"),
        ("raise KeyboardInterrupt", "scorer mine, sample '1': KeyboardInterrupt"),
        ("raise TimeoutError('mine')", "scorer mine, sample '1': TimeoutError: mine"),
        (
            "import asyncio; raise asyncio.CancelledError",
            "scorer mine, sample '1': it cancelled its own asyncio task",
        ),
        ("context.models[7]", "scorer mine, sample '1': IndexError"),
        ("await context.generate([], model='other', stage='s')", "sample '1': KeyError: 'other'"),
    ],
    ids=["raises", "no JSON", "exits", "interrupts", "too late", "cancels", "no model", "other"],
)
def test_whatever_a_scorer_does_wrong_is_told_with_scorer_and_sample(
    tmp_path: Path, body: str, problem: str
) -> None:
    (tmp_path / "mine.py").write_text(SCORER.format(body=body))
    bench = Bench(tmp_path, more="scorer: ./mine.py:Mine\n")

    async def use(opened: Run) -> None:
        solved = await bench.solve(opened, 1)
        assert solved.completion.answer == "what is 1?"
        with pytest.raises(ScorerError, match=problem):
            solved.prepared_by("mine")

    bench.run(use)


def test_scorers_that_want_incorrect_answers_alone_are_not_asked_ahead(tmp_path: Path) -> None:
    scorer = SCORER.replace("1.0, False", "1.0, True").format(body="return 5")
    (tmp_path / "mine.py").write_text(scorer)
    bench = Bench(tmp_path, more="scorer: ./mine.py:Mine\n")

    async def use(opened: Run) -> None:
        assert (await bench.solve(opened, 1)).prepared == {}
        wish = {**judge_wish("t.py::t[1]", "x"), "scorer": ["mine", {}]}
        prepared: Any = await opened.answer("", "prepare", wish)
        assert prepared["prepared"] == 5

    bench.run(use)


def test_a_scorer_that_prepares_nothing_is_no_wish(tmp_path: Path) -> None:
    async def use(opened: Run) -> None:
        wish = {**judge_wish("own.py::t", "x"), "scorer": ["exact", {}]}
        answered: Any = await opened.answer("", "prepare", wish)
        error = error_from_json(answered["failed"])
        assert isinstance(error, UsageError)
        told = "scorer 'exact' has no method `prepare`; score its answers without the engine"
        assert str(error) == told

    Bench(tmp_path).run(use)


def test_a_test_of_ones_own_may_ask_model_and_judge(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    async def use(opened: Run) -> None:
        message = Message.of("user", "hello").to_json()
        wish: dict[str, Any] = {
            "nodeid": "own.py::t",
            "messages": [message],
            "parameters": {},
            "draw": 0,
            "role": "solver",
        }
        reply: Any = await opened.answer("", "generate", wish)
        assert reply["text"] == "hello"
        judged: Any = await opened.answer("", "generate", {**wish, "role": "judge"})
        assert json.loads(judged["text"])["reason"] == "the same"
        with pytest.raises(UsageError, match="no model is configured for the role 'critic': pass"):
            await opened.answer("", "generate", {**wish, "role": "critic"})
        wish = judge_wish("own.py::t", "y", votes=1, prefilter=False)
        prepared: Any = await opened.answer("", "prepare", wish)
        assert prepared["prepared"]["judge"] == "openai/judge"

    bench.run(use)


def test_a_failed_sample_keeps_its_transcript_and_the_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path, fail("HTTP 400"))

    async def use(opened: Run) -> None:
        with pytest.raises(ProviderError):
            await bench.complete(opened, 0)

    bench.run(use)
    call, note = bench.transcripts[bench.plan.tests[0].key].events
    assert isinstance(call, FailedCall)
    assert (call.asked.model, call.error) == ("openai/m", "HTTP 400")
    assert call.asked.messages[0].text
    assert note == StageNote(stage="error", text="ProviderError: HTTP 400")


SOLVERS = {
    "raises": (
        "async def solve(sample, context):\n    return {}['missing']\n",
        "KeyError: 'missing'",
    ),
    "exits": ("async def solve(sample, context):\n    raise SystemExit(3)\n", "SystemExit: 3"),
    "asserts": (
        "async def solve(sample, context):\n    assert sample.id == 'x', 'no x'\n",
        "AssertionError: no x",
    ),
    "nothing": ("async def solve(sample, context):\n    pass\n", "returned a NoneType"),
    "details": (
        (
            "from pytest_llmeval import *\nasync def solve(s, c):\n"
            "    return Completion(text='', details={'seen': {1}})\n"
        ),
        "field 'details'\\['seen'\\] is a set, not plain JSON",
    ),
    "parameters": (
        (
            "async def solve(s, c):\n"
            "    return (await c.generate(c.prompt(), parameters={'stop': object()})).text\n"
        ),
        "TypeError: Object of type object is not JSON serializable",
    ),
}


@pytest.mark.parametrize(("solver", "problem"), SOLVERS.values(), ids=SOLVERS.keys())
def test_whatever_a_solver_does_wrong_is_told_with_solver_and_sample(
    tmp_path: Path, solver: str, problem: str
) -> None:
    (tmp_path / "solver.py").write_text(solver)
    bench = Bench(tmp_path, more="solver: ./solver.py:solve\n")

    async def use(opened: Run) -> None:
        with pytest.raises(TaskError, match=problem) as caught:
            await bench.complete(opened, 1)
        assert "solver.py:solve" in str(caught.value)
        assert "sums.yaml" in str(caught.value)
        assert "sample '1'" in str(caught.value) or "returned" in problem

    bench.run(use)


def test_a_mistake_of_ours_is_told_with_solver_and_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)

    async def use(opened: Run) -> None:
        monkeypatch.setattr(Solving, "_rule", lambda *_: dict[str, Any]()["ours"])
        with pytest.raises(LLMEvalError, match="solver direct, sample '1': KeyError: 'ours'"):
            await bench.complete(opened, 1)

    bench.run(use)


SHARED = """
from pytest_llmeval import ToolError
opened = []

class Tool:
    async def close(self):
        opened.append("closed")

async def open_tool():
    opened.append("opened")
    {body}

async def solve(sample, context):
    tool = await context.shared("tool", open_tool)
    context.tell(f"{{context.setting('place')}} {{context.setting('other')}}")
    return type(tool).__name__

def seen():
    return opened
"""


def test_a_tool_that_cannot_be_had_is_the_same_error_for_every_sample(tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text(SHARED.format(body="raise ToolError('no database')"))
    bench = Bench(tmp_path, more="solver: ./solver.py:solve\n")

    async def use(opened: Run) -> None:
        for sample in (0, 1):
            with pytest.raises(ToolError, match="no database"):
                await bench.complete(opened, sample)

    bench.run(use)
    assert load_callable("./solver.py:seen", tmp_path)() == ["opened"]


def test_samples_share_a_tool_that_is_closed_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text(SHARED.format(body="return Tool()"))
    bench = Bench(tmp_path, more="solver: ./solver.py:solve\n")

    async def use(opened: Run) -> None:
        for sample in range(3):
            assert (await bench.complete(opened, sample)).text == "Tool"

    bench.run(use)
    assert load_callable("./solver.py:seen", tmp_path)() == ["opened", "closed"]
    assert bench.told == ["here None"] * 3


def test_a_test_that_was_not_planned_is_told_how_it_would_be(tmp_path: Path) -> None:
    async def use(opened: Run) -> None:
        with pytest.raises(UsageError, match=r"t\.py::t\[99\] was not planned: name `completion`"):
            await bench.complete(opened, 99)

    bench = Bench(tmp_path)
    bench.run(use)


def test_the_loss_of_the_only_model_is_told_once_and_stops_the_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, fail("the model is lost"), samples=50)

    async def use(opened: Run) -> None:
        outcomes = await asyncio.gather(
            *(bench.complete(opened, n) for n in range(5)), return_exceptions=True
        )
        assert (
            sorted(type(outcome).__name__ for outcome in outcomes)
            == ["ProviderError"] + ["RunStopped"] * 4
        )
        assert {str(outcome) for outcome in outcomes} == {"the model is lost"}
        with pytest.raises(RunStopped, match="the model is lost"):
            await bench.complete(opened, 40)

    bench.run(use)
    # No more than were in flight when the first came back.
    assert len(bench.asked) <= 4


def test_the_loss_of_the_judge_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        return fail("the judge model is lost")(request) if request.role == "judge" else "x"

    bench = Bench(tmp_path, answer, more=JUDGED, samples=20)

    async def use(opened: Run) -> None:
        solved = [await bench.solve(opened, n) for n in range(20)]
        assert [one.completion.answer for one in solved] == ["x"] * 20
        told = [one.failed["judge"] for one in solved]
        kinds = Counter(one["kind"] for one in told if isinstance(one, dict))
        assert kinds == {"ProviderError": 1, "ModelLost": 19}
        with pytest.raises(ModelLost, match=r"its judge is lost: the judge model is lost"):
            solved[10].prepared_by("judge")

    bench.run(use)
    assert [request.role for request in bench.asked].count("solver") == 20


@pytest.mark.parametrize(
    ("ends", "kind", "told"),
    [
        ("time", LLMEvalError, "sample '1': not judged within 5 s"),
        ("budget", RunStopped, "limit of 900 tokens reached"),
        ("close", RunStopped, "closed"),
        ("end", RunStopped, "ended"),
    ],
)
def test_what_ends_while_a_judge_is_asked_leaves_the_completion(
    tmp_path: Path, ends: str, kind: type[LLMEvalError], told: str
) -> None:
    budget = Budget(max_tokens=900) if ends == "budget" else None
    bench = Bench(
        tmp_path, more=JUDGED, budget=budget, sample_timeout=5 if ends == "time" else None
    )
    bench.judging_takes = 50.0

    async def use(opened: Run) -> None:
        solving = asyncio.ensure_future(bench.solve(opened, 1))
        await asyncio.sleep(3)
        if ends == "close":
            await opened.close("closed")
        if ends == "end":
            opened.end("ended")
        solved = await solving
        assert solved.completion.answer == "what is 1?"
        assert [call.asked.role for call in solved.completion.transcript.calls] == ["solver"]
        with pytest.raises(kind, match=told):
            solved.prepared_by("judge")

    bench.run(use)


def test_while_another_model_is_left_the_run_goes_on(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        return fail("the model is lost")(request) if request.model == "bad" else "x"

    bench = Bench(tmp_path, answer)
    loaded = bench.catalog.load(bench.file)
    good, bad = (plan_of(loaded, model=f"openai/{name}").tests for name in ("good", "bad"))
    tests = (*(test._replace(nodeid=f"bad {test.sample}") for test in bad), *good)
    bench.plan = Plan(tests=tests, tasks=bench.plan.tasks)

    async def use(opened: Run) -> None:
        # The first is told, for the others it is but the reason why they did not run.
        for sample in range(3):
            with pytest.raises(ModelLost if sample else ProviderError, match="the model is lost"):
                await opened.answer("", "completion", {"nodeid": f"bad {sample}"})
        for sample in range(3):
            assert (await bench.complete(opened, sample)).text == "x"

    bench.run(use)


def test_a_budget_that_is_reached_stops_the_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, samples=50, budget=Budget(max_tokens=1))

    async def use(opened: Run) -> None:
        for sample in (0, 30):
            with pytest.raises(RunStopped, match="limit of 1 tokens reached"):
                await bench.complete(opened, sample)

    bench.run(use)
    assert bench.asked == []


def test_a_sample_has_its_time_from_its_first_request_on(tmp_path: Path) -> None:
    def slow(_: Request) -> str:
        msg = "not yet"
        raise ProviderError(msg, reach="attempt", cause="reset")

    # Four requests of a second at a time: the last ones queue for two.
    bench = Bench(tmp_path, samples=9, sample_timeout=1.5)

    async def in_time(opened: Run) -> None:
        completions = await asyncio.gather(*(bench.complete(opened, n) for n in range(9)))
        assert len(completions) == 9

    bench.run(in_time)
    bench.answer = slow

    async def too_late(opened: Run) -> None:
        with pytest.raises(
            LLMEvalError, match=r"sample '0': not done within 1.5 s \(--llmeval-sample-timeout\)"
        ):
            await bench.complete(opened, 0)

    bench.run(too_late)
    (key,) = (key for key in bench.transcripts if key.sample == "0")
    assert "not done within 1.5 s" in str(bench.transcripts[key].events[-1])


def test_data_that_changed_since_the_workers_read_them_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    file, name, _ = bench.plan.tasks[0]
    with pytest.raises(UsageError, match=r"sums\.yaml: the dataset changed during the run"):
        bench.open(Plan(tests=bench.plan.tests, tasks=((file, name, "other"),)))


def test_a_plan_with_a_task_that_no_model_answers_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    with pytest.raises(UsageError, match="no recorded replies, and no model is configured"):
        bench.open(plan_of(bench.catalog.load(bench.file)))


def test_an_unknown_wish_is_refused(tmp_path: Path) -> None:
    async def use(opened: Run) -> None:
        with pytest.raises(UsageError, match="unknown wish 'dance'"):
            await opened.answer("", "dance", {})

    Bench(tmp_path).run(use)
