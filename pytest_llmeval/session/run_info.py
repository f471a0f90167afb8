"""The content of ``run.json``: settings, versions, git state, tasks, and models of its roles."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Container, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.results.task_info import Validated
from pytest_llmeval.scoring.judge.judgement import panel_name
from pytest_llmeval.scoring.scorer import role_of
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.grading import graders_json, task_graders
from pytest_llmeval.session.price_info import oldest_day, prices_json
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.task_info import fitting, task_info
from pytest_llmeval.task.catalog import Catalog

DISTRIBUTION = "pytest-llmeval-suite"
"""The package's name on the package index."""


def run_info(  # noqa: PLR0913 - the facts of a session, from several places
    settings: Settings,
    catalog: Catalog,
    plan: Plan,
    rootpath: Path,
    validations: Sequence[Validated] = (),
    *,
    mistaken: Container[str] = (),
) -> dict[str, Json]:
    """Return the content of ``run.json``.

    Args:
        settings: the session's settings.
        catalog: the tasks.
        plan: the selected tests.
        rootpath: the folder whose git state is stored.
        validations: stored validations of judges.
        mistaken: files of tasks that cannot be run, so that they have no judges.
    """
    sound = plan.without(mistaken)
    prices = prices_json(settings, catalog, sound)
    return {
        "settings": settings.to_json(),
        "versions": {
            "python": platform.python_version(),
            **_versions(),
        },
        "platform": platform.platform(),
        "git": _git_state(rootpath),
        "tasks": {
            file: _task_info(catalog, Path(file), digest, validations)
            for file, _, digest in plan.tasks
        },
        "judges": _judges(settings, catalog, sound, validations),
        "roles": _roles(settings, catalog, sound),
        "prices": prices,
        "prices_as_of": oldest_day(prices),
        "graders": graders_json(task_graders(sound, settings, catalog)),
        "planned": len(plan.tests),
    }


def _judges(
    settings: Settings, catalog: Catalog, plan: Plan, validations: Sequence[Validated]
) -> Json:
    """Return, for each task, model and scorer that asks judges, the judges and their validation.

    The validation is None where none is stored.
    """
    choice = model_choice(settings, catalog)
    found: list[Json] = []
    for test in plan.kinds:
        loaded = catalog.at(test.file)
        for declared in loaded.scorers:
            if (scorer := declared.asks) is None:
                continue
            judge = panel_name([model.label for model in choice.of_scorer(scorer, test)])
            known = next((one for one in fitting(loaded, validations) if one.judge == judge), None)
            validation: Json = None if known is None else known.to_json()
            found.append(
                {
                    "task": test.task,
                    "model": test.model,
                    "role": role_of(scorer),
                    "judge": judge,
                    "validation": validation,
                }
            )
    return found


def _roles(settings: Settings, catalog: Catalog, plan: Plan) -> Json:
    """Return, for each task and model, the models of the roles that its solver declares to ask."""
    choice = model_choice(settings, catalog)
    found: list[Json] = []
    for test in plan.kinds:
        with suppress(UsageError, TaskError):  # its samples tell that, and the others run
            found += [
                {"task": test.task, "model": test.model, "role": role, "asked": asked.label}
                for role, asked in choice.partners(test).items()
            ]
    return found


def _task_info(catalog: Catalog, path: Path, digest: str, validations: Sequence[Validated]) -> Json:
    """Return the version and digests of a task, and its `TaskInfo`."""
    loaded = catalog.load(path)
    task = loaded.task
    return {
        "name": task.name,
        "version": task.version,
        "samples": digest,
        "prompt": task.prompt_digest,
        "settings": task.settings_digest,
        "info": task_info(loaded, validations).to_json(),
    }


def _versions() -> dict[str, Json]:
    """Return the versions of the package and its requirements; {} where it is not installed."""
    try:
        names = [re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in requires(DISTRIBUTION) or ()]
    except PackageNotFoundError:
        return {}
    return {name: _version(name) for name in (DISTRIBUTION, *dict.fromkeys(names))}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_state(folder: Path) -> dict[str, Json] | None:
    """Return the commit, and whether files differ from it; None without git or a repository."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return {
            "commit": commit,
            "modified": bool(_git(folder, "status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(  # noqa: S603 - fixed words
        ["git", *words],  # noqa: S607 - the user's own git
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    return done.stdout.strip()
