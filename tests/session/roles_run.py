"""Runs whose solver and scorer ask several roles, without pytest, on a server that counts.

The tests of a run are played as the plugin plays them: wait for the completion, score it, report
the row.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from servers.fixture import ModelServer

from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.specs import parse_specs
from pytest_llmeval.errors import TaskStopped
from pytest_llmeval.records import Row
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.conclusion import Conclusion
from pytest_llmeval.session.ending import finish
from pytest_llmeval.session.host import Host
from pytest_llmeval.session.main_session import MainSession
from pytest_llmeval.session.options import Option
from pytest_llmeval.session.outcome import outcome_of
from pytest_llmeval.session.plan_check import check_settings
from pytest_llmeval.session.resolve import resolve
from pytest_llmeval.session.rows import row_of
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog

TASK = """name: talk
dataset: {{path: talk.jsonl, fields: {{id: id, input: question, target: answer}}}}
prompt: "{{{{ input }}}}"
solver: ./parts.py:talk
scorer: {{./parts.py:Panel: {{role: {scorer}}}}}
roles: {roles}
"""

PARTS = """
from dataclasses import dataclass
from pytest_llmeval import Message, Score

ROLES, ALIKE = {roles!r}, {alike!r}

async def talk(sample, context):
    said = []
    for role in ("solver", *ROLES):
        text = sample.input if ALIKE else f"{{sample.input}} {{role}}"
        reply = await context.generate([Message.of("user", text)], stage=role, role=role)
        said.append(f"{{role}}={{reply.model}}")
    return " ".join(said)

if {declares!r}:
    talk.roles = ROLES

@dataclass(frozen=True)
class Panel:
    role: str
    models: tuple = ()
    name = "panel"
    grader = "panel/1"
    scale = 1
    only_incorrect = False

    def check(self, target):
        pass

    async def prepare(self, sample, completion, context):
        ask = [Message.of("user", f"{{sample.input}} as {{self.role}}")]
        replies = [await context.generate(ask, model=m, stage="panel") for m in context.models]
        return [reply.model for reply in replies]

    def score(self, answer, sample, prepared):
        details = {{"models": prepared}}
        return Score(name="panel", value=1, correct=True, grader=self.grader, details=details)
"""


@dataclass(frozen=True)
class Typed:
    """A command line, a variable and an ini file, of which the options come."""

    folder: Path
    line: Mapping[str, object] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        return self.folder

    def typed(self, option: Option) -> object:
        return self.line.get(option.name)

    def ini(self, option: Option) -> str:
        return self.keys.get(option.name, "")


@dataclass
class Talk:
    """A task whose solver asks roles, and whose scorer asks the models of one role.

    Attributes:
        folder: of the task and of its runs.
        server: serves all models.
        roles: those that the solver asks beside the model under test.
        scorer: the scorer's role.
        of_task: specs that the task names by role.
        alike: whether all roles are asked the very same.
        declares: whether the solver declares its roles.
        told: what the sessions told the user.
    """

    folder: Path
    server: ModelServer
    roles: tuple[str, ...] = ("user",)
    scorer: str = "grader"
    of_task: Mapping[str, Sequence[str]] = field(default_factory=dict)
    alike: bool = False
    declares: bool = True
    samples: int = 2
    told: list[str] = field(default_factory=list)
    conclusion: Conclusion | None = None

    def __post_init__(self) -> None:
        """Write the task."""
        lines = ({"id": str(n), "question": f"what is {n}?", "answer": "x"} for n in self.ids)
        (self.folder / "talk.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        roles = json.dumps({role: list(specs) for role, specs in self.of_task.items()})
        self.file = self.folder / "talk.yaml"
        self.file.write_text(TASK.format(scorer=self.scorer, roles=roles))
        parts = PARTS.format(roles=self.roles, alike=self.alike, declares=self.declares)
        (self.folder / "parts.py").write_text(parts)

    @property
    def ids(self) -> range:
        return range(self.samples)

    def spec(self, model: str) -> str:
        return f"openai/{model},base_url={self.server.url},temperature=0"

    def settings(self, *models: str, judges: Sequence[str] = (), **given: Any) -> Settings:
        """Return the settings that a command line leads to: values of --llmeval-model and more."""
        line = {"model": list(models) or None, "judge": list(judges) or None}
        settings = resolve(Typed(self.folder, line))
        return replace(settings, report=str(self.folder / "runs"), concurrency=4, **given)

    def run(self, settings: Settings) -> tuple[Path, list[Row]]:
        """Run all samples; return the run's folder and its rows."""
        check_settings(settings)
        host = Host(
            tell=self.told.append,
            flush=lambda: None,
            root=self.folder,
            stops_early=False,
        )
        catalog = Catalog(folder=self.folder)
        session = MainSession(settings, catalog, host)
        session.take_plan(self.plan(catalog, settings))
        try:
            session.check(sends=True)
            for test in session.plan.tests:
                session.rows.add(self._played(session, test, catalog))
                session.over(test.nodeid)
        finally:
            session.close("over", in_haste=True)
        self.conclusion = session.conclude()
        assert self.conclusion is not None
        assert self.conclusion.path is not None
        return self.conclusion.path, list(read_run(self.conclusion.path).rows)

    def plan(self, catalog: Catalog, settings: Settings) -> Plan:
        loaded = catalog.load(self.file)
        models = parse_specs(settings.models, folder=self.folder)
        tests = tuple(
            PlannedTest(
                f"t.py::t[{one.id}-{model}]", "t.py::t", str(self.file), "talk", one.id, model, 1
            )
            for model in [model.label for model in models]
            for one in loaded.samples
        )
        return Plan(tests=tests, tasks=((str(self.file), "talk", loaded.digest),))

    def ledger(self) -> Counter[tuple[str, str]]:
        """Return the requests since the last call of this, by model and text."""
        seen = self.server.report()["seen"]
        self.server.program(keep=10_000)
        return Counter(
            (one["body"]["model"], one["body"]["messages"][-1]["content"]) for one in seen
        )

    def _played(self, session: MainSession, test: PlannedTest, catalog: Catalog) -> Row:
        attempt = Attempt(test.nodeid, lambda: session.link)
        attempt.planned, attempt.loaded = test, catalog.load(self.file)
        attempt.sample = attempt.loaded.by_id[test.sample]
        raised, in_body = None, False
        try:
            completion = attempt.wait()
            in_body = True
            for scorer in attempt.scorers:
                attempt.score(scorer, completion.answer, attempt.sample)
            finish(attempt, None)
        except Exception as error:  # noqa: BLE001 - the end of the test
            raised = error
        skipped = isinstance(raised, TaskStopped)
        outcome = outcome_of(attempt, raised, in_body=in_body, skipped=skipped)
        return row_of(attempt, test, outcome, raised)


def answers(rows: Sequence[Row]) -> dict[str, str]:
    """Return which model answered in which role, by sample."""
    return {row.sample: (row.answer or "").replace("-2026-01-01", "") for row in rows}
