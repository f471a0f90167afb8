"""A run over a small task: completions with transcript and judge, clear errors, and what ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from pytest_llmeval.domains.heracles.graphs import Graphs
from small_task import plan_of, write_task
from virtual_time import run

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.completions import CompletionStore
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.ports import Graph
from pytest_llmeval.engine.run import Run
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.errors import (
    LLMEvalError,
    ModelLost,
    ProviderError,
    RunStopped,
    TaskError,
    ToolError,
    UsageError,
)
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.python import PythonProvider
from pytest_llmeval.records import (
    Completion,
    FailedCall,
    Reply,
    Request,
    RowKey,
    StageNote,
    Transcript,
    Verdict,
)
from pytest_llmeval.scoring.judge.judgement import Judgement
from pytest_llmeval.session.settings import Settings
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
        self.settings = Settings(models=("openai/m",), judges=("openai/judge",), folder=str(folder))
        self.catalog = Catalog(self.settings)
        self.plan = plan_of(self.catalog.load(self.file), model="openai/m")
        self.folder, self.answer, self.budget = folder, answer, budget or Budget()
        self.asked: list[Request] = []
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
            models=Models(self.open_gateway, CompletionStore(None), None),
            graphs=Graphs(self.open_graph),
            choice=ModelChoice(self.settings, self.catalog),
            image_store=ImageFolder(self.folder / "images"),
            window=8,
            keep_transcript=self.transcripts.__setitem__,
            sample_timeout=self.sample_timeout,
        )

    def open_gateway(self, spec: ModelSpec) -> Gateway:
        statistics = CallStatistics()
        limits = Limiter(4, statistics=statistics)
        provider = PythonProvider(self.reply, name=spec.label)
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
        await asyncio.sleep(1)
        return self.answer(request)

    async def open_graph(self, scene: Path) -> Graph:
        msg = f"no database for {scene.name}"
        raise ToolError(msg)

    async def complete(self, opened: Run, sample: int) -> Completion:
        return Completion.from_json(
            await opened.answer("", "completion", {"nodeid": f"t.py::t[{sample}]"})
        )


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


def test_the_judge_is_asked_right_behind_the_answer_and_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, more="scorer: judge\njudge: {prefilter: off}\n")

    async def use(opened: Run) -> None:
        completion = await bench.complete(opened, 1)
        assert [call.asked.role for call in completion.transcript.calls] == ["solver", "judge"]
        wish = {
            "nodeid": "t.py::t[1]",
            "problem": "what is 1?",
            "target": "1",
            "candidate": "what is 1?",
            "votes": 1,
        }
        judgement: Any = await opened.answer("", "judge", wish)
        assert Judgement.from_json(judgement).verdict == Verdict(equivalent=True, reason="the same")

    bench.run(use)
    texts = [request.messages[-1].text for request in bench.asked if request.role == "judge"]
    assert len(texts) == len(set(texts)) == 3


def test_a_judges_failure_is_the_samples_error(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        return fail("judge down")(request) if request.role == "judge" else "x"

    bench = Bench(tmp_path, answer, more="scorer: judge\njudge: {prefilter: off}\n")

    async def use(opened: Run) -> None:
        with pytest.raises(ProviderError, match="judge down"):
            await bench.complete(opened, 1)

    bench.run(use)


def test_a_test_of_ones_own_may_ask_model_and_judge(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    async def use(opened: Run) -> None:
        message = {"role": "user", "parts": [{"text": "hello"}]}
        wish = {"nodeid": "own.py::t", "messages": [message], "parameters": {}, "draw": 0}
        reply: Any = await opened.answer("", "generate", wish)
        assert reply["text"] == "hello"
        wish = {"nodeid": "own.py::t", "problem": "", "target": "x", "candidate": "y", "votes": 1}
        judgement: Any = await opened.answer("", "judge", wish)
        assert judgement["judge"] == "openai/judge"

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
        "from pytest_llmeval import *\nasync def solve(s, c):\n    return Completion(text='', details={'seen': {1}})\n",
        "field 'details'\\['seen'\\] is a set, not plain JSON",
    ),
    "parameters": (
        "async def solve(s, c):\n    return (await c.generate(c.prompt(), parameters={'stop': object()})).text\n",
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
    monkeypatch.setattr(ModelChoice, "solver", lambda *_: bench.settings and MODEL)

    async def use(opened: Run) -> None:
        monkeypatch.setattr(ModelChoice, "solver", lambda *_: {}["ours"])
        with pytest.raises(LLMEvalError, match="solver direct, sample '1': KeyError: 'ours'"):
            await bench.complete(opened, 1)

    bench.run(use)


MODEL = ModelSpec(kind="openai", name="m", label="openai/m")


def test_a_graph_that_cannot_be_had_is_everyones_graph_error(tmp_path: Path) -> None:
    (tmp_path / "scene.json").write_text("{}")
    (tmp_path / "solver.py").write_text(
        "async def solve(s, c):\n    return (await c.query('RETURN 1')).text\n"
    )
    bench = Bench(tmp_path, more="solver: ./solver.py:solve\ngraph: {scene: scene.json}\n")

    async def use(opened: Run) -> None:
        for sample in (0, 1):
            with pytest.raises(ToolError, match=r"no database for scene\.json"):
                await bench.complete(opened, sample)

    bench.run(use)


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


def test_the_loss_of_the_judge_stops_a_task_that_is_judged(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        return fail("the judge model is lost")(request) if request.role == "judge" else "x"

    bench = Bench(tmp_path, answer, more="scorer: judge\njudge: {prefilter: off}\n", samples=20)

    async def use(opened: Run) -> None:
        with pytest.raises(ProviderError, match="judge model is lost"):
            await bench.complete(opened, 0)
        with pytest.raises(RunStopped, match="judge model is lost"):
            await bench.complete(opened, 10)

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
    with pytest.raises(UsageError, match="no recorded replies and no model is configured"):
        bench.open(plan_of(bench.catalog.load(bench.file)))


def test_an_unknown_wish_is_refused(tmp_path: Path) -> None:
    async def use(opened: Run) -> None:
        with pytest.raises(UsageError, match="unknown wish 'dance'"):
            await opened.answer("", "dance", {})

    Bench(tmp_path).run(use)
