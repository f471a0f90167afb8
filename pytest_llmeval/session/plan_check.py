"""Checks of options and plans before the first request."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from pytest_llmeval.engine.batches.settings import batch_settings_of
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.context import (
    OpeningCheckingSolver,
    PromptCheckingSolver,
    StagedSolver,
    ToolOfferingSolver,
)
from pytest_llmeval.engine.own_code import answer_rule_of, solver_of
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.replies.recording import Recording
from pytest_llmeval.engine.specs import ModelSpec, parse_specs, share_limits
from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.providers.opening import check_batches as check_provider_batches
from pytest_llmeval.providers.opening import check_provider
from pytest_llmeval.records import Sample, display_of
from pytest_llmeval.results.declared_metrics import MetricError, check_metrics
from pytest_llmeval.roles import SOLVER
from pytest_llmeval.scoring.scorer import (
    AskingScorer,
    SampleCheckingScorer,
    ToolExpectingScorer,
    score_names,
)
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.judge_check import check_specs, judges_of
from pytest_llmeval.session.places import kept_place, reused_place
from pytest_llmeval.session.role_check import check_roles, option_of, parsed_roles
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.session.task_info import known_task
from pytest_llmeval.task import Task
from pytest_llmeval.task.catalog import Catalog, LoadedTask
from pytest_llmeval.task.prompt_check import check_prompts, rendered
from pytest_llmeval.task.samples import wrong_samples


def check_settings(settings: Settings) -> None:
    """Raise UsageError for an invalid model spec or place of replies."""
    folder = Path(settings.folder)
    models = parse_specs(settings.models, folder=folder)
    others = parsed_roles(settings)
    share_limits([*models, *chain.from_iterable(others.values())])
    batch_settings_of(settings.batch or "off")
    reused_place(settings)
    kept = kept_place(settings)
    if kept is not None and kept.is_recording:
        for role, specs in {SOLVER: models, **others}.items():
            if len({model.bare for model in specs}) > 1:
                msg = (
                    f"--llmeval-keep {settings.keep} takes one {option_of(role)}: a recording does "
                    "not distinguish models of one role; name a folder"
                )
                raise UsageError(msg)


def task_mistakes(plan: Plan, settings: Settings, catalog: Catalog) -> Mapping[str, LLMEvalError]:
    """Return by task file what is wrong with a planned task, so that none of its samples is asked.

    A solver, an answer rule, a metric or the published figures cannot be loaded; a prompt or a
    judge's question cannot be rendered; the spec of a judge is none; the task's recording cannot be
    read; a role that its solver declares has no model.
    """
    choice = model_choice(settings, catalog)
    samples: dict[str, dict[str, Sample]] = {}
    for test in plan.tests:
        loaded = catalog.at(test.file)
        samples.setdefault(test.file, {})[test.sample] = loaded.by_id[test.sample]
    recorded = {test.file for test in plan.kinds if not test.model}
    found = {}
    for file, selected in samples.items():
        loaded = catalog.at(file)
        try:
            _check_own_code(loaded.task)
            kinds = [test for test in plan.kinds if test.file == file]
            check_roles(loaded, kinds, choice, Path(settings.folder))
            _check_metrics(loaded)
            known_task(loaded)
            _check_prompts(loaded.task, tuple(selected.values()))
            check_specs(loaded, Path(settings.folder))
            _check_scored(loaded, tuple(selected.values()))
            if file in recorded and settings.reuse is None:
                _check_recording(loaded.task)
        except LLMEvalError as error:
            found[file] = error
    return found


def check_plan(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    """Raise UsageError for a plan that cannot be run.

    Causes: an option names a task or sample that was not collected; a test has no model, or one
    that reads no pictures where its sample has some; the budget is in dollars and a price is
    unknown.
    """
    _check_tasks(plan, settings)
    _check_samples(plan, settings, catalog)
    _check_pictures(plan, settings, catalog)
    spending = Spending(settings)
    solvers, judges = (found(plan, settings, catalog) for found in (_solvers, judges_of))
    for model in dict.fromkeys((*solvers, *judges)):
        spending.budget(model)


def check_models(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    """Raise UsageError for a model under test that cannot be asked: no key, address or function.

    A run that may find all replies in a store is not checked; it may need no key.
    """
    if settings.resume is not None or settings.reuse is not None:
        return
    for model in dict.fromkeys(model.bare for model in _solvers(plan, settings, catalog)):
        check_provider(model, folder=Path(settings.folder))


def check_batches(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    """Raise UsageError if requests shall go into batches to a model that has no batch API.

    Recorded replies cost nothing, and need none.
    """
    if settings.batch is None or batch_settings_of(settings.batch) is None:
        return
    asked = (*_solvers(plan, settings, catalog), *judges_of(plan, settings, catalog))
    for model in dict.fromkeys(model.bare for model in asked if not model.recorded):
        check_provider_batches(model, folder=Path(settings.folder))


def check_report_folder(settings: Settings) -> None:
    """Raise UsageError when run folders cannot be made in the report folder."""
    if settings.report is None:
        return
    folder = Path(settings.report)
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        msg = (
            f"--llmeval-report {folder}: {existing} is not a folder that can be written to; "
            "choose another"
        )
        raise UsageError(msg)


def _solvers(plan: Plan, settings: Settings, catalog: Catalog) -> Iterator[ModelSpec]:
    """Yield the models that solve, of all roles; UsageError where a test has none."""
    return chain.from_iterable(map(model_choice(settings, catalog).solving, plan.kinds))


def _check_tasks(plan: Plan, settings: Settings) -> None:
    tasks = {name for _, name, _ in plan.tasks}
    if plan.wrong:
        return  # the names of tasks that could not be loaded are not known
    tasks |= {name.partition("[")[0] for name in tasks}  # of variants also the task's own name
    if unknown := sorted(set(settings.overrides) - tasks):
        known = ", ".join(sorted(tasks))
        msg = f"--llmeval-set names task {unknown[0]!r}; tasks collected here: {known}"
        raise UsageError(msg)


def _check_samples(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    if not settings.samples or plan.wrong:
        return
    known = {sample for file, _, _ in plan.tasks for sample in catalog.at(file).by_id}
    if unknown := [sample for sample in settings.samples if sample not in known]:
        msg = f"--llmeval-sample {unknown[0]!r}: no task collected here has a sample with this id"
        raise UsageError(msg)


def _check_own_code(task: Task) -> None:
    """Raise TaskError for a solver or an answer rule that cannot be loaded."""
    solver_of(task)
    answer_rule_of(task)


def _check_metrics(loaded: LoadedTask) -> None:
    """Raise an error for a metric that cannot be loaded or computed."""
    task = loaded.task
    displays = (loaded.display, *(display_of(one.scorer) for one in loaded.scorers))
    try:
        check_metrics(
            task.metrics,
            task.folder,
            scores=[name for one in loaded.scorers for name in score_names(one.scorer)],
            shares=[name for display in displays for name in display.shares],
        )
    except MetricError as error:
        raise task.error(error.problem, "metrics", *error.place) from None


def _check_prompts(task: Task, samples: Sequence[Sample]) -> None:
    """Raise TaskError for a prompt that cannot be rendered, or that the solver refuses.

    Only of solvers that declare the stages of their prompt are the variables known.
    """
    solver = task.named_solver
    if not isinstance(solver, StagedSolver):
        return
    variables = solver.variables()
    check_prompts(task, dict.fromkeys(solver.stages, variables), samples)
    if not isinstance(solver, PromptCheckingSolver | OpeningCheckingSolver):
        return
    for stage in solver.stages:
        messages = rendered(task, stage, samples[0], variables)
        try:
            if isinstance(solver, PromptCheckingSolver):
                solver.check_prompt(stage, messages)
            if isinstance(solver, OpeningCheckingSolver):
                solver.check_opening(stage, messages, samples[0])
        except ValueError as error:
            raise task.error(str(error), "prompt") from None


def _check_scored(loaded: LoadedTask, samples: Sequence[Sample]) -> None:
    """Raise an error for a sample of which a scorer could score no answer."""
    task = loaded.task
    for index, declared in enumerate(loaded.scorers):
        scorer = declared.scorer
        if not isinstance(scorer, SampleCheckingScorer):
            continue
        problems: dict[str, str] = {}
        for sample in samples:
            try:
                scorer.check_sample(sample)
                if isinstance(scorer, ToolExpectingScorer):
                    _check_tools(scorer.expected_tools(sample), task.named_solver)
            except (TaskError, ValueError) as error:
                problems[sample.id] = str(error)
        if not problems:
            continue
        if len(problems) < len(samples) or len(set(problems.values())) > 1:
            raise wrong_samples(task, problems)
        # What is wrong with all of them alike is the task's, not the data's.
        place = ("scorer",) if len(loaded.scorers) == 1 else ("scorer", index)
        first, problem = next(iter(problems.items()))
        msg = f"{problem} (sample {first!r})"
        raise task.error(msg, *place, declared.spec.name)


def _check_tools(expected: Sequence[str], solver: object) -> None:
    """Raise ValueError for a tool that the solver does not offer, if that is known."""
    offered = solver.tool_names if isinstance(solver, ToolOfferingSolver) else None
    unknown = [name for name in expected if offered is not None and name not in offered]
    if unknown:
        msg = (
            f"a call of {unknown[0]!r} is expected, which is none of the solver's tools "
            f"({', '.join(offered or ())})"
        )
        raise ValueError(msg)


def _check_recording(task: Task) -> None:
    """Raise an error for a task's recording that is not a file, or not a recording."""
    if task.replay is None:
        return
    try:
        Recording(task.replay)
    except UsageError as error:
        raise task.error(str(error), "replay") from None


def _check_pictures(plan: Plan, settings: Settings, catalog: Catalog) -> None:
    """Raise UsageError for a sample with pictures that a model gets which reads none."""
    choice = model_choice(settings, catalog)
    blind = {
        (test.file, test.model): model
        for test in plan.kinds
        for model in _shown_pictures(test, choice, catalog)
        if not model.reads_pictures
    }
    for test in plan.tests if blind else ():
        model = blind.get((test.file, test.model))
        if model is not None and catalog.at(test.file).by_id[test.sample].images:
            msg = (
                f"{model.label} reads no pictures, and sample {test.sample!r} of task "
                f"{test.task!r} has some: name a model that does (vision=on if this one does "
                f"after all), or leave the task out (-k 'not {test.task}')"
            )
            raise UsageError(msg)


def _shown_pictures(
    test: PlannedTest, choice: ModelChoice, catalog: Catalog
) -> tuple[ModelSpec, ...]:
    """Return the models that get a test's pictures: the one under test, and its judges if asked."""
    scorers = (declared.scorer for declared in catalog.at(test.file).scorers)
    judges = (
        choice.of_scorer(scorer, test)
        for scorer in scorers
        if isinstance(scorer, AskingScorer) and getattr(scorer, "pictures", False)
    )
    return (choice.solver(test), *chain.from_iterable(judges))
