"""Questions about shortest paths between nodes of one kind that lead into each other."""

from __future__ import annotations

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.draft import Draft, UnfitError
from pytest_llmeval.domains.heracles.questions.property_graph import steps_from
from pytest_llmeval.domains.heracles.questions.step import Step
from pytest_llmeval.domains.heracles.questions.subject import (
    Named,
    Subject,
    bounded,
    identifier,
)

_MOST_HOPS = 3


def hops(subject: Subject) -> Draft:
    """Return the question "How long is the shortest path between two nodes?"."""
    step, start, end, length = _ends(subject, least=2)
    return Draft(
        name=f"Hops from {start.words} to {end.words}",
        question=(
            f"How many {step.type} relationships long is the shortest path from {start.words} to "
            f"{end.words}? Their direction does not matter."
        ),
        cypher=f"{_path(step, start, end)} RETURN length(p) AS hops",
        answer=length,
        tags=("path", "hops"),
    )


def only_path(subject: Subject) -> Draft:
    """Return the question "Which nodes does the only shortest path lead through?"."""
    step, start, end, _ = _ends(subject, least=2)
    kind, links = subject.source(step), subject.schema.graph.around[step.type]
    steps, path = steps_from(links, start.vertex.number), [end.vertex.number]
    while path[-1] != start.vertex.number:
        before = [one for one in links[path[-1]] if steps.get(one) == steps[path[-1]] - 1]
        if len(before) > 1:
            msg = "several shortest paths"
            raise UnfitError(msg)
        path.append(before[0])
    bounded(len(path))
    if not all(one in kind.by_number for one in path):
        msg = "a path over nodes of another label"
        raise UnfitError(msg)
    return Draft(
        name=f"Path from {start.words} to {end.words}",
        question=(
            f"Which {subject.all_of(kind).words} does the shortest path of {step.type} "
            f"relationships from {start.words} to {end.words} lead through, whatever their "
            f"direction? List their {subject.names(kind)} in order, both ends included."
        ),
        cypher=(
            f"{_path(step, start, end)} UNWIND nodes(p) AS n RETURN {identifier(kind, 'n')} AS id"
        ),
        answer=[kind.identity(kind.by_number[one]) for one in reversed(path)],
        tags=("path", "order"),
    )


def within_hops(subject: Subject) -> Draft:
    """Return the question "Which nodes can be reached within some steps?"."""
    step = subject.step(_connects)
    kind = subject.source(step)
    start, links = subject.named(kind), subject.schema.graph.around[step.type]
    most = subject.dice.pick(range(2, _MOST_HOPS + 1), "numbers of steps", key=lambda one: one)
    found = set(steps_from(links, start.vertex.number, most=most)) - {start.vertex.number}
    names = kind.identities(found)
    subject.counted(len(names))
    bounded(len(names), of=len(kind.vertices) - 1)
    label, type_ = subject.all_of(kind), cypher_text.name(step.type)
    return Draft(
        name=f"Within {most} hops of {start.words}",
        question=(
            f"Which {label.words} can be reached from {start.words} over at most {most} "
            f"{step.type} relationships, whatever their direction, {start.words} itself left out? "
            f"Give the set of their {subject.names(kind)}."
        ),
        cypher=(
            f"MATCH {start.pattern('a')}-[:{type_}*1..{most}]-{label.pattern('n')} WHERE n <> a "
            f"RETURN DISTINCT {identifier(kind, 'n')} AS id"
        ),
        answer=names,
        tags=("path", "set"),
    )


def _ends(subject: Subject, *, least: int) -> tuple[Step, Named, Named, int]:
    """Return two nodes with a path of at least so many steps, and how many it has."""
    step = subject.step(_connects)
    kind = subject.source(step)
    start = subject.something(kind)
    steps = steps_from(subject.schema.graph.around[step.type], start.vertex.number)
    far = [one for one in kind.vertices if steps.get(one.number, 0) >= least]
    if not far:
        msg = "no path, or only a trivial one"
        raise UnfitError(msg)
    end = subject.named(kind, far)
    return step, start, end, steps[end.vertex.number]


def _path(step: Step, start: Named, end: Named) -> str:
    return (
        f"MATCH {start.pattern('a')}, {end.pattern('b')} "
        f"MATCH p = shortestPath((a)-[:{cypher_text.name(step.type)}*]-(b))"
    )


def _connects(step: Step) -> bool:
    return not step.deep and step.source == step.target
