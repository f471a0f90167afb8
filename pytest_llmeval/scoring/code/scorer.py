"""The scorer ``code``: the answer is a program, which the sample's tests run in the sandbox."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar, Final

from pytest_llmeval.records import Completion, Json, Sample, Score
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.sandbox.sandbox import Sandbox, open_sandbox
from pytest_llmeval.scoring.binary import no_answer
from pytest_llmeval.scoring.code.report import CodeReport, report_of, report_of_cases
from pytest_llmeval.scoring.code.samples import (
    CaseTests,
    FunctionTests,
    Keys,
    check_tests,
    tests_of,
)
from pytest_llmeval.scoring.scorer import RunOptions, ScorerContext

LONGEST: Final = 1_000_000
"""Characters of a program."""

_TESTS_PROCESS: Final = "pytest_llmeval.scoring.code.tests_process"
_PROGRAM_PROCESS: Final = "pytest_llmeval.scoring.code.program_process"
_CASE_PROCESS: Final = "pytest_llmeval.scoring.code.case_process"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeScorer:
    """Correct when the program passes all tests of its sample; the value is the share that passes.

    Attributes:
        name: name of the score.
        tests: key of the metadata that holds the tests: Python with ``assert``, a list of such
            texts, Python with a function ``check(candidate)``, or cases ``{input, output}``.
        entry: key of the metadata that names what ``check`` is given, such as a function.
        head: key of the metadata with code that stands before every program, such as the first
            lines of the function.
        setup: key of the metadata with code that stands before the tests.
        timeout: seconds of processor time that a program may use, for each case anew. Three times
            that and five seconds more may pass on the clock.
        memory: megabytes that it may use.

    Raises:
        ValueError: a limit is not positive.
    """

    name: str = "code"
    tests: str
    entry: str | None = None
    head: str | None = None
    setup: str | None = None
    timeout: int = 10
    memory: int = 1024

    grader: ClassVar[str] = "code/1"
    scale: ClassVar[float] = 1.0
    only_incorrect: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the limits."""
        for option in ("timeout", "memory"):
            if getattr(self, option) <= 0:
                msg = f"{option} is {getattr(self, option)}; a limit is a number above 0"
                raise ValueError(msg)

    def check(self, target: str) -> None:
        """Accept every target: it is a program for people to read."""

    def check_sample(self, sample: Sample) -> None:
        """Raise ValueError if the sample has no tests that can be run."""
        check_tests(tests_of(sample, self._keys))

    async def check_run(self, context: RunOptions) -> None:
        """Raise UsageError if no program can run here."""
        await open_sandbox(context)

    async def prepare(self, sample: Sample, completion: Completion, context: ScorerContext) -> Json:
        """Run the program, and return the JSON of its `CodeReport`; None without a program.

        Raises:
            UsageError: no program can run here.
            ToolError: the sandbox failed.
            ScorerError: the tests themselves are at fault.
        """
        program = completion.answer or ""
        if not program.strip():
            return None
        tests = tests_of(sample, self._keys)
        if len(program) > LONGEST:
            why = f"the program is longer than {LONGEST:,} characters"
            return CodeReport(passed=0, total=1, why=why).to_json()
        sandbox = await open_sandbox(context)
        texts = [f"{tests.head}\n{program}", program] if tests.head else [program]
        if isinstance(tests, CaseTests):
            return (await self._on_cases(texts, tests, sandbox)).to_json()
        return (await self._with_functions(texts, tests, sandbox)).to_json()

    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:  # noqa: ARG002 - part of the port
        """Return the score of a program that ran; without a program 0."""
        if prepared is None:
            return no_answer(self)
        report = CodeReport.from_json(prepared)
        told = f"{report.passed} of {report.total} tests passed"
        if not report.correct:
            first = f"{report.failed}: " if report.failed else ""
            told = f"{told}; {first}{report.why}"
        return Score(
            name=self.name,
            value=report.passed / report.total,
            correct=report.correct,
            explanation=told,
            grader=self.grader,
            details={
                "tests": report.total,
                "passed": report.passed,
                "failed": report.failed,
                "why": report.why,
                "stderr": report.stderr,
            },
        )

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:  # noqa: ARG002 - part of the port
        """Return the first line of a failed assertion."""
        return f"{self.name}: the program does not pass its tests"

    @property
    def _keys(self) -> Keys:
        return Keys(tests=self.tests, entry=self.entry, head=self.head, setup=self.setup)

    def _limits(self, output_bytes: int) -> Limits:
        return Limits(
            wall_seconds=3.0 * self.timeout + 5,
            cpu_seconds=self.timeout,
            memory_mb=self.memory,
            output_bytes=max(Limits().output_bytes, output_bytes),
        )

    async def _with_functions(
        self, program: list[str], tests: FunctionTests, sandbox: Sandbox
    ) -> CodeReport:
        order = {"program": program, **asdict(tests), "cpu_seconds": self.timeout}
        order["tests"] = order.pop("texts")
        run = await sandbox.run(
            json.dumps(order),
            module=_TESTS_PROCESS,
            beside=_PROGRAM_PROCESS,
            limits=self._limits(0),
        )
        return report_of(run)

    async def _on_cases(self, program: list[str], tests: CaseTests, sandbox: Sandbox) -> CodeReport:
        """Run a program on its cases, up to one in which a limit ended it."""
        runs = []
        for case in tests.cases:
            order = {"program": program, "input": case.input}
            limits = self._limits(2 * len(case.output.encode()))
            run = await sandbox.run(json.dumps(order), module=_CASE_PROCESS, limits=limits)
            runs.append(run)
            if run.problem is not None and run.seconds >= self.timeout:
                break
        return report_of_cases(tests.cases, runs)
