"""The choice of the models of a run: those under test, and those of other roles."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_llmeval.engine.own_code import roles_of
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.specs import (
    ModelSpec,
    parse_spec,
    parse_specs,
    replay_spec,
    share_limits,
)
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Role
from pytest_llmeval.roles import JUDGE, SOLVER
from pytest_llmeval.scoring.scorer import AskingScorer, role_of
from pytest_llmeval.task import Task
from pytest_llmeval.task.catalog import Catalog


class RoleError(UsageError):
    """A solver or a test body asks a role that has no model, or several."""


class ModelChoice:
    """Chooses models by the session's options, then by the task, then by the environment."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        models: Sequence[str],
        roles: Mapping[Role, Sequence[str]],
        seed: int | None,
        folder: Path,
    ) -> None:
        """Parse the session's specs.

        Args:
            catalog: the tasks.
            models: specs of the models under test, as typed.
            roles: specs of the models of each other role, such as ``judge``, as typed.
            seed: seed of all requests; None sends none.
            folder: where relative paths in specs start.

        Raises:
            UsageError: a spec is invalid, or two specs of one model have different limits.
        """
        self._catalog, self._seed, self._folder = catalog, seed, folder
        named = [(role, text) for role, texts in roles.items() for text in dict.fromkeys(texts)]
        specs = [*parse_specs(models, folder=folder)]
        specs += [parse_spec(text, folder=folder) for _, text in named]
        seeded = [replace(spec, seed=seed) for spec in share_limits(specs)]
        self._models, others = seeded[: len(models)], seeded[len(models) :]
        self._roles: dict[Role, dict[ModelSpec, None]] = {}
        for (role, _), spec in zip(named, others, strict=True):
            self._roles.setdefault(role, {})[spec] = None
        # Parsed once: thousands of tests have the same model.
        self._specs = {spec.label: spec for spec in self._models}

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """The session's models under test."""
        return tuple(self._models)

    def solver(self, test: PlannedTest | None) -> ModelSpec:
        """Return the model under test.

        Args:
            test: a planned test, whose model is returned; with no model configured it is the
                recording of its task. None stands for a test without a sample, whose model is the
                session's first.

        Raises:
            UsageError: there is no model.
        """
        if test is not None:
            return self._planned(test)
        if not self._models:
            msg = "no model is configured: pass --llmeval-model SPEC, such as openai/gpt-5.1"
            raise UsageError(msg)
        return self._models[0]

    def of_role(
        self, role: Role, test: PlannedTest | None, named: Sequence[str] = ()
    ) -> tuple[ModelSpec, ...]:
        """Return the models of a role, each once, by the first rule that applies; () for none.

        1. Those that the session names.
        2. For a test on a recording: the same recording. A recorded judge thus never judges the
           answers of a live model.
        3. Those `named` by the scorer.
        4. Those that the task names for the role.
        5. For judges: the Azure deployment in the variable JUDGE_DEPLOYMENT, if
           AZURE_OPENAI_ENDPOINT is set.
        """
        if role in self._roles:
            return tuple(self._roles[role])
        if test is not None and (solver := self._planned(test)).recorded:
            return (solver,)
        if texts := named or self._of_task(role, test):
            return tuple(dict.fromkeys(map(self._parsed, texts)))
        deployment = os.environ.get("JUDGE_DEPLOYMENT")
        if role == JUDGE and deployment and os.environ.get("AZURE_OPENAI_ENDPOINT"):
            return (self._parsed(f"azure/{deployment}"),)
        return ()

    def of_scorer(self, scorer: AskingScorer, test: PlannedTest | None) -> tuple[ModelSpec, ...]:
        """Return the models that a scorer may ask about a test's answer; () for none."""
        return self.of_role(role_of(scorer), test, scorer.models)

    def of_solver(self, role: Role, test: PlannedTest | None) -> ModelSpec:
        """Return the model that a solver, or a test body, asks as `role`.

        A recorded conversation goes on only as it did: its other roles too are answered by a
        recording, the session's for the role (which may have other parameters) or the same one.

        Raises:
            RoleError: the role has no model, or several.
            UsageError: a spec is invalid, or there is no model under test.
        """
        if role == SOLVER:
            return self.solver(test)
        found = self.of_role(role, test)
        if test is not None and (solver := self._planned(test)).recorded:
            found = tuple(model for model in found if model.recorded) or (solver,)
        if len(found) == 1:
            return found[0]
        problem = self._missing(role)
        if found:
            names = ", ".join(model.label for model in found)
            problem = f"the role {role!r} has {len(found)} models ({names}), where one is asked"
        raise RoleError(problem if test is None else f"task {test.task!r}: {problem}")

    def _missing(self, role: Role) -> str:
        """Return the message for a role without a model, with the roles that the run has."""
        told = f"no model is configured for the role {role!r}: pass --llmeval-model {role}=SPEC"
        return f"{told} (roles of this run: {', '.join(self._roles)})" if self._roles else told

    def partners(self, test: PlannedTest) -> dict[Role, ModelSpec]:
        """Return the models of the roles that the solver of a test's task declares.

        Raises:
            RoleError: a role has no model, or several.
            TaskError: the solver cannot be loaded.
        """
        roles = roles_of(self._catalog.at(test.file).task)
        return {role: self.of_solver(role, test) for role in roles}

    def solving(self, test: PlannedTest) -> tuple[ModelSpec, ...]:
        """Return the model under test, and those of the roles that its solver declares."""
        return (self._planned(test), *self.partners(test).values())

    def scoring(self, test: PlannedTest) -> tuple[ModelSpec, ...]:
        """Return the models that the scorers of the test's task ask about every answer."""
        models = (
            model
            for declared in self._catalog.at(test.file).scorers
            if (scorer := declared.asks) is not None
            for model in self.of_scorer(scorer, test)
        )
        return tuple(dict.fromkeys(models))

    def _of_task(self, role: Role, test: PlannedTest | None) -> Sequence[str]:
        """Return the specs that a test's task names for a role."""
        if test is None:
            return ()
        return self._catalog.at(test.file).task.roles.get(role, ())

    def _parsed(self, text: str) -> ModelSpec:
        if text not in self._specs:
            spec = parse_spec(text, folder=self._folder)
            self._specs[text] = replace(spec, seed=self._seed)
        return self._specs[text]

    def _planned(self, test: PlannedTest) -> ModelSpec:
        """Return the model of a planned test, or the recording of its task."""
        if test.model:
            return self._parsed(test.model)
        task = self._catalog.at(test.file).task
        if task.replay is None:
            raise UsageError(no_model(task))
        return replace(replay_spec(task.replay), seed=self._seed)


def no_model(task: Task) -> str:
    """Return the message for a task without model and recording."""
    return (
        f"task {task.name!r} has no recorded replies, and no model is configured: "
        "pass --llmeval-model SPEC"
    )
