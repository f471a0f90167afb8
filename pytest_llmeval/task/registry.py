"""Registries: the names of scorers, solvers, providers and so on, and their implementations.

A name is a built-in one, an entry point of an installed distribution, ``./file.py:function``
relative to the task, or ``installed.module:function``. Modules are imported on first use.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.domain_names import domain_names
from pytest_llmeval.safety.printable import described
from pytest_llmeval.task.callables import load_callable

FORMS = ("./file.py:function", "module:function")
"""The forms in which a function is named by reference."""


@dataclass(frozen=True)
class Registry:
    """The names of one kind of implementation.

    Attributes:
        kind: the word for it in messages, such as ``scorer``.
        group: its entry-point group.
        built_in: names to ``module:attribute``.
    """

    kind: str
    group: str
    built_in: Mapping[str, str]

    @cached_property
    def own(self) -> Mapping[str, str]:
        """The names defined by this package: `built_in`, and those of its domains."""
        return {**self.built_in, **domain_names(self.group)}

    @property
    def names(self) -> tuple[str, ...]:
        """All names, those of other distributions last."""
        return tuple(dict.fromkeys((*self.own, *_installed(self.group))))

    def knows(self, name: str) -> bool:
        """Return whether `name` is one of `names`, or refers to a function."""
        return ":" in name or name in self.own or name in _installed(self.group)

    def unknown(self, name: str) -> str:
        """Return the problem with an unknown name: the nearest known name, and all names."""
        near = difflib.get_close_matches(name, self.names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"is {name!r}{hint} (allowed: {', '.join((*self.names, *FORMS))})"

    def load(self, name: str, folder: Path, *, confined: bool = True) -> Callable[..., Any]:
        """Return the callable with this name.

        Args:
            name: one of `names`, or a reference to a function.
            folder: where a relative ``./file.py`` starts.
            confined: whether such a file must lie in `folder`.

        Raises:
            UsageError: the name is unknown, defined by two distributions, or the entry point cannot
                be loaded.
            TaskError: the function that is referred to does not exist.
        """
        if ":" in name:
            return load_callable(name, folder, confined=confined)
        if name in self.own:
            return load_callable(self.own[name], folder)
        if not (found := _installed(self.group).get(name, ())):
            msg = f"{self.kind} {self.unknown(name)}"
            raise UsageError(msg)
        if len(found) > 1:
            claims = " and ".join(map(distribution, found))
            msg = f"{self.kind} {name!r} is defined by {claims}; uninstall one of them"
            raise UsageError(msg)
        return self._imported(found[0])

    def origin(self, name: str) -> str:
        """Return name and version of the distribution that defines a name; "" for this package."""
        found = () if ":" in name or name in self.own else _installed(self.group).get(name, ())
        return distribution(found[0]) if found else ""

    def _imported(self, point: EntryPoint) -> Callable[..., Any]:
        origin = f"{self.kind} {point.name!r} of {distribution(point)}"
        try:
            found = point.load()
        # Foreign code may raise anything while it is imported.
        except (Exception, SystemExit) as error:
            problem = f"{point.value}: {described(error)}"
            msg = f"{origin} cannot be loaded ({problem}); repair or uninstall it"
            raise UsageError(msg) from error
        if not callable(found):
            msg = f"{origin}: {point.value} is not a function"
            raise UsageError(msg)
        return found  # type: ignore[no-any-return]  # its types are checked by its callers


def distribution(point: EntryPoint) -> str:
    """Return name and version of the distribution that defines an entry point."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"


@cache
def _installed(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


SCORERS = Registry(
    kind="scorer",
    group="pytest_llmeval.scorers",
    built_in={
        "exact": "pytest_llmeval.scoring.exact:Exact",
        "includes": "pytest_llmeval.scoring.includes:Includes",
        "regex": "pytest_llmeval.scoring.regex:Regex",
        "number": "pytest_llmeval.scoring.number:Number",
        "choice": "pytest_llmeval.scoring.choice:Choice",
        "json_schema": "pytest_llmeval.scoring.json_schema:JsonSchema",
        "checks": "pytest_llmeval.task.checks:Checks",
        "sldp": "pytest_llmeval.scoring.sldp.scorer:SldpScorer",
        "pddl": "pytest_llmeval.scoring.pddl.scorer:PddlScorer",
        "eed": "pytest_llmeval.scoring.eed.scorer:EedScorer",
        "judge": "pytest_llmeval.scoring.judge.making:judge_scorer",
        "code": "pytest_llmeval.scoring.code.scorer:CodeScorer",
        "trajectory": "pytest_llmeval.scoring.trajectory.scorer:TrajectoryScorer",
    },
)
SOLVERS = Registry(
    kind="solver",
    group="pytest_llmeval.solvers",
    built_in={
        "direct": "pytest_llmeval.solvers.direct:DirectSolver",
        "agent": "pytest_llmeval.solvers.agent.solver:AgentSolver",
        "turns": "pytest_llmeval.solvers.turns.solver:TurnsSolver",
    },
)
TOOLS = Registry(kind="tool", group="pytest_llmeval.tools", built_in={})
PROVIDERS = Registry(
    kind="provider",
    group="pytest_llmeval.providers",
    built_in={
        "openai": "pytest_llmeval.providers.openai.opener:open_openai",
        "anthropic": "pytest_llmeval.providers.anthropic.opener:open_anthropic",
        "azure": "pytest_llmeval.providers.azure.opener:open_azure",
        "google": "pytest_llmeval.providers.google.opener:open_google",
        "bedrock": "pytest_llmeval.providers.bedrock.opener:open_bedrock",
        "vllm": "pytest_llmeval.providers.vllm.opener:open_vllm",
        "replay": "pytest_llmeval.providers.replay:open_replay",
        "python": "pytest_llmeval.providers.python:open_python",
    },
)
METRICS = Registry(
    kind="metric",
    group="pytest_llmeval.metrics",
    built_in={
        "accuracy": "pytest_llmeval.results.metric:accuracy",
        "mean": "pytest_llmeval.results.metric:mean",
        "pass_at": "pytest_llmeval.results.metric:pass_at",
        "maj_at": "pytest_llmeval.results.metric:maj_at",
        "f1_macro": "pytest_llmeval.results.metric:f1_macro",
        "mcc": "pytest_llmeval.results.metric:mcc",
        "micro": "pytest_llmeval.results.metric:micro",
    },
)
DATASETS = Registry(kind="dataset reader", group="pytest_llmeval.datasets", built_in={})
ANSWERS = Registry(
    kind="answer rule",
    group="pytest_llmeval.answers",
    built_in={
        name: f"pytest_llmeval.task.answers:{name}"
        for name in ("boxed_first", "boxed_last", "tagged", "last_line", "choice", "code", "whole")
    },
)
