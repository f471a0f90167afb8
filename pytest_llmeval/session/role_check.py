"""Checks of the roles that tasks ask, and of the models that they have, before any request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.specs import ModelSpec, parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Role
from pytest_llmeval.roles import JUDGE, SOLVER, is_role
from pytest_llmeval.scoring.scorer import AskingScorer, role_of
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog, LoadedTask


def option_of(role: Role) -> str:
    """Return the option that names a model of a role."""
    own = {SOLVER: "--llmeval-model SPEC", JUDGE: "--llmeval-judge SPEC"}
    return own.get(role, f"--llmeval-model {role}=SPEC")


def parsed_roles(settings: Settings) -> dict[Role, Sequence[ModelSpec]]:
    """Return the models that the options name for each role but ``solver``.

    Raises:
        UsageError: a spec is invalid; the message names the role.
    """
    return {
        role: [_parsed(role, text, Path(settings.folder)) for text in texts]
        for role, texts in settings.by_role.items()
    }


def check_roles(
    loaded: LoadedTask, tests: Iterable[PlannedTest], choice: ModelChoice, folder: Path
) -> None:
    """Raise an error for a role of a task that is none, or has no model.

    Args:
        loaded: the task.
        tests: a test of it for each model.
        choice: the models of the session.
        folder: where relative paths in specs start.

    Raises:
        TaskError: the spec of a model is invalid, or what a scorer or the solver names is no role.
        UsageError: a role that the solver declares has no model, or several.
    """
    task = loaded.task
    for role, texts in task.roles.items():
        for text in texts:
            try:
                parse_spec(text, folder=folder)
            except UsageError as error:
                raise task.error(str(error), "roles", role) from None
    for one in loaded.scorers:
        if isinstance(one.scorer, AskingScorer):
            role = role_of(one.scorer)
            if not is_role(role) or role == SOLVER:
                problem = (
                    f"the role {role!r} of {one.scorer.name} is none that a scorer can ask; it is "
                    f"a word of small letters, digits, _ and - other than {SOLVER}"
                )
                raise task.error(problem, "scorer")
    for test in tests:
        if test.model or task.replay is not None:  # a test without any model is told elsewhere
            choice.partners(test)


def missing_judges(plan: Plan, settings: Settings, catalog: Catalog) -> list[str]:
    """Return a remark for each role whose models scorers ask, where none is configured."""
    choice = model_choice(settings, catalog)
    found: dict[Role, str] = {}
    for test in plan.kinds:
        for declared in catalog.at(test.file).scorers:
            scorer = declared.asks
            if scorer is not None and not choice.of_scorer(scorer, test):
                role = role_of(scorer)
                remark = f"task {test.task!r} is scored by a {role} and none is configured"
                found.setdefault(role, f"{remark}: pass {option_of(role)}")
    return list(found.values())


def _parsed(role: Role, text: str, folder: Path) -> ModelSpec:
    try:
        return parse_spec(text, folder=folder)
    except UsageError as error:
        msg = f"the role {role!r}: {error}"
        raise UsageError(msg) from None
