"""The whole scene graph in the prompt, and no database: the pipeline "in context" of Heracles.

Source: arXiv 2510.16643.
"""

from __future__ import annotations

from typing import get_args

from pytest_llmeval.domains.heracles.scene_text import Form, read_scene_text
from pytest_llmeval.domains.heracles.solve_findings import is_sldp
from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.records import Completion, Sample
from pytest_llmeval.task.answers import tagged


def in_context(*, form: Form = "short") -> Solver:
    """Return the solver that sends the stage ``generate`` once, its variable ``graph`` the task's scene as text.

    `form` is ``short`` or ``full``. The details tell ``valid_sldp`` (of the answer between the
    reply's tags) and ``turns``.
    """
    if form not in get_args(Form):
        msg = f"form is {form!r}; expected one of {', '.join(get_args(Form))}"
        raise ValueError(msg)

    async def solve(sample: Sample, context: SolverContext) -> Completion:  # noqa: ARG001 - every solver gets it
        reply = await context.generate(context.prompt(graph=read_scene_text(context.scene, form)))
        details = {"valid_sldp": is_sldp(tagged(reply.text)), "turns": 1}
        return Completion(text=reply.text, stop_reason=reply.stop_reason, details=details)

    return solve
