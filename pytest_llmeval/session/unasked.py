"""Roles that the options name a model for, and that nobody asks: most likely misspelt."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress

from pytest_llmeval.engine.own_code import roles_of
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Role
from pytest_llmeval.scoring.scorer import AskingScorer, role_of
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.task.catalog import Catalog, LoadedTask


def unasked_roles(
    plan: Plan, settings: Settings, catalog: Catalog, asked: Collection[Role]
) -> list[str]:
    """Return a remark for each role of the options that no test asked or declares to ask.

    It is no error: options that stand in a file serve many tests, of which a few may be selected.

    Args:
        plan: the selected tests.
        settings: the session's settings.
        catalog: the tasks.
        asked: the roles in which models were asked.
    """
    loaded = [catalog.at(file) for file in {test.file: None for test in plan.kinds}]
    declared = {role for one in loaded for role in _declared(one)}
    known = ", ".join(sorted(declared)) or "none"
    return [
        f"the role {role!r} of --llmeval-model {role}=... was not asked (roles of these tasks: "
        f"{known})"
        for role in settings.roles
        if role not in {*asked, *declared}
    ]


def _declared(loaded: LoadedTask) -> Iterator[Role]:
    """Yield the roles of a task's solver and scorers."""
    with suppress(TaskError):  # its tests tell that
        yield from roles_of(loaded.task)
    for one in loaded.scorers:
        if isinstance(one.scorer, AskingScorer):
            yield role_of(one.scorer)
