"""Judged runs without pytest: the session, its engine and files, and models on a loopback server.

The tests of a run are played as the plugin plays them: wait for the completion, call
``assert_correct``, report the row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from servers.fixture import ModelServer

from pytest_llmeval import assert_correct
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.errors import ModelLost, RunStopped, TaskStopped
from pytest_llmeval.records import Row, Transcript
from pytest_llmeval.results.stored_run import read_run, read_transcripts
from pytest_llmeval.scoring.running import RUNNING
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.ending import finish
from pytest_llmeval.session.host import Host
from pytest_llmeval.session.main_session import MainSession
from pytest_llmeval.session.outcome import outcome_of
from pytest_llmeval.session.rows import row_of
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

TASK = """name: judged
dataset: {path: judged.jsonl, fields: {id: id, input: question, target: answer}}
prompt: "say\\n{{ input }}"
answer: last_line
generate: {max_tokens: 50}
"""

RIGHT = '{"answer_correct": 1, "reason": "the same"}'

Body = Callable[[Attempt], object]


def correct(attempt: Attempt) -> None:
    assert attempt.sample is not None
    assert attempt.completion is not None
    assert_correct(attempt.sample, attempt.completion)


@dataclass
class JudgedRun:
    """A task of samples whose answers are judged, on a server that says what it is asked.

    Attributes:
        folder: of the task and of its runs.
        server: serves the model ``solver``, and judges.
        scorer: YAML of the task's scorers.
        samples: number of samples.
        plain: whether answers are numbers, so that no judge is needed.
        told: what the sessions told the user.
    """

    folder: Path
    server: ModelServer
    scorer: str = "scorer: {judge: {prefilter: off}}\n"
    samples: int = 8
    plain: bool = False
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Write the task."""
        lines = [
            {"id": str(n), "question": f"{n}" if self.plain else f"what is {n}?", "answer": f"{n}"}
            for n in range(self.samples)
        ]
        (self.folder / "judged.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        self.file = self.folder / "judged.yaml"
        self.file.write_text(TASK + self.scorer)

    @property
    def solver(self) -> str:
        return f"openai/solver,base_url={self.server.url}"

    def judge(self, name: str = "judge", *, url: str = "", timeout: float = 20) -> str:
        """Return the spec of a judge on the server, or at another address."""
        address = url or self.server.url
        return f"openai/{name},base_url={address},timeout={timeout},patience=0.05"

    def program(self, **settings: Any) -> None:
        """Let judges find every answer right, unless `settings` say otherwise."""
        says = {"judge": RIGHT, "other": RIGHT, "third": RIGHT, **settings.pop("says", {})}
        self.server.program(says=says, **settings)

    @property
    def asked(self) -> dict[str, int]:
        """Number of requests by model."""
        found: dict[str, int] = self.server.report()["models"]
        return found

    def settings(self, *judges: str, **given: Any) -> Settings:
        place = {"folder": str(self.folder), "report": str(self.folder / "runs")}
        fields = {**place, "models": (self.solver,), "judges": judges, "concurrency": 4, **given}
        return Settings(**fields)

    def run(self, *judges: str, body: Body = correct, **given: Any) -> tuple[Path, dict[str, Row]]:
        """Run all samples; return the run's folder and its rows by sample."""
        settings = self.settings(*judges, **given)
        with self.session(settings) as (session, plan):
            for test in plan.tests:
                session.rows.add(self.played(session, test, body))
                session.over(test.nodeid)
            session.close("over", in_haste=False)
            conclusion = session.conclude()
        assert conclusion is not None
        assert conclusion.path is not None
        return conclusion.path, {row.sample: row for row in read_run(conclusion.path).rows}

    @contextmanager
    def session(self, settings: Settings) -> Iterator[tuple[MainSession, Plan]]:
        host = Host(
            tell=self.told.append,
            flush=lambda: None,
            root=self.folder,
            stops_early=False,
        )
        catalog = Catalog(folder=self.folder)
        loaded = catalog.load(self.file)
        tests = tuple(
            PlannedTest(
                f"t.py::t[{one.id}]", "t.py::t", str(self.file), "judged", one.id, self.solver, 1
            )
            for one in loaded.samples
        )
        plan = Plan(tests=tests, tasks=((str(self.file), "judged", loaded.digest),))
        session = MainSession(settings, catalog, host)
        session.take_plan(plan)
        self.loaded = loaded
        try:
            session.check(sends=True)
            yield session, plan
        finally:
            session.close("over", in_haste=True)

    def played(self, session: MainSession, test: PlannedTest, body: Body) -> Row:
        """Return the row of a test that is played as the plugin plays it."""
        attempt = Attempt(test.nodeid, lambda: session.link)
        attempt.planned, attempt.loaded = test, self.loaded
        attempt.sample = self.loaded.by_id[test.sample]
        in_body = skipped = False
        RUNNING.set(attempt)
        raised: Exception | None = None
        try:
            attempt.wait()
            in_body = True
            try:
                body(attempt)
            except Exception as error:
                finish(attempt, error)
                raise
            finish(attempt, None)
        except Exception as error:  # noqa: BLE001 - the end of the test
            raised, skipped = error, isinstance(error, TaskStopped | RunStopped | ModelLost)
        finally:
            RUNNING.set(None)
        outcome = outcome_of(attempt, raised, in_body=in_body, skipped=skipped)
        return row_of(attempt, test, outcome, raised)


def transcripts(run: Path) -> Mapping[str, Transcript]:
    """Return the transcripts of a run by sample."""
    with suppress(FileNotFoundError):
        return {key.sample: transcript for key, transcript in read_transcripts(run)}
    return {}
