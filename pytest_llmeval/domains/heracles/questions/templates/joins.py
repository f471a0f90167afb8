"""Questions that join two steps, or two nodes."""

from __future__ import annotations

from pytest_llmeval.domains.heracles.questions.draft import Draft, UnfitError
from pytest_llmeval.domains.heracles.questions.subject import (
    Category,
    Subject,
    bounded,
    identifier,
)
from pytest_llmeval.domains.heracles.questions.templates.steps import reached


def two_steps(subject: Subject) -> Draft:
    """Return the question "Which nodes lie two steps away?"."""
    first = subject.step()
    second = subject.step(lambda one: one.source == first.target)
    middle, end = subject.target(first), subject.target(second)
    starts = [
        one
        for one in subject.source(first).vertices
        if subject.empty or reached(subject, first, one.number)
    ]
    start = subject.named(subject.source(first), starts)
    between = reached(subject, first, start.vertex.number)
    found = {number for one in between for number in reached(subject, second, one)} - {
        start.vertex.number
    }
    categories = [Category(end, key) for key in end.categories]
    group = subject.all_of(end)
    if categories and subject.dice.flip():
        group = subject.group(subject.dice.pick(categories, "categories", key=lambda one: one.key))
    identities = {end.identity(one) for one in group.vertices if one.number in found}
    subject.counted(len(identities))
    bounded(len(identities), of=len(end.vertices))
    conditions = [
        *(["m <> a"] if first.source == first.target else []),
        *(["n <> m"] if second.source == second.target else []),
        *(["n <> a"] if end is start.group.kind else []),
    ]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    but = f", {start.words} itself left out" if end is start.group.kind else ""
    return Draft(
        name=f"{group.words.capitalize()} two steps from {start.words}",
        question=(
            f"Which {group.words} {subject.verb_back(second).many} at least one "
            f"{subject.schema.vocabulary.one(middle.label)} of those that "
            f"{subject.verb_back(first).many} {start.words}{but}? "
            f"Give the set of their {subject.names(end)}."
        ),
        cypher=(
            f"MATCH {start.pattern('a')}{first.cypher}{subject.all_of(middle).pattern('m')} "
            f"MATCH (m){second.cypher}{group.pattern('n')}{where} "
            f"RETURN DISTINCT {identifier(end, 'n')} AS id"
        ),
        answer=identities,
        tags=("join", "set"),
    )


def shared_values(subject: Subject) -> Draft:
    """Return the question "Which values occur with both of two nodes?"."""
    step = subject.step(
        lambda one: subject.target(one).categories and len(subject.source(one).vertices) > 1
    )
    kind, below = subject.source(step), subject.target(step)
    category = subject.category(below)
    one, other = subject.named(kind), subject.named(kind)
    if one.vertex is other.vertex:
        msg = "a node and itself"
        raise UnfitError(msg)
    values = [
        {
            str(value)
            for number in reached(subject, step, node.vertex.number)
            if (value := below.by_number[number].properties.get(category.key))
        }
        for node in (one, other)
    ]
    found = values[0] & values[1]
    subject.counted(len(found))
    bounded(len(found))
    apart = [" AND n <> a", " AND o <> b"] if kind is below else ["", ""]
    group = subject.all_of(below)
    known = f"{category.value('n')} <> ''"
    return Draft(
        name=f"{category.key} shared by {one.words} and {other.words}",
        question=(
            f"Which {subject.values(category)} occur among the {group.words} that "
            f"{subject.verb_back(step).many} {one.words}, and also among those that "
            f"{subject.verb_back(step).many} {other.words}?{category.remark}"
        ),
        cypher=(
            f"MATCH {one.pattern('a')}{step.cypher}{group.pattern('n')} WHERE {known}{apart[0]} "
            f"WITH DISTINCT {category.value('n')} AS value "
            f"MATCH {other.pattern('b')}{step.cypher}{group.pattern('o')} "
            f"WHERE {category.value('o')} = value{apart[1]} "
            "RETURN DISTINCT value"
        ),
        answer=found,
        tags=("join", "set"),
    )


def holding_both(subject: Subject) -> Draft:
    """Return the question "Which nodes lead to nodes of both of two values?"."""
    step = subject.step(lambda one: subject.target(one).categories)
    kind = subject.source(step)
    category = subject.category(subject.target(step))
    one, other = subject.group(category), subject.group(category)
    if one.words == other.words:
        msg = "a group and itself"
        raise UnfitError(msg)
    wanted = [{vertex.number for vertex in group.vertices} for group in (one, other)]
    found = {
        kind.identity(vertex)
        for vertex in kind.vertices
        if all(numbers & reached(subject, step, vertex.number) for numbers in wanted)
    }
    subject.counted(len(found))
    bounded(len(found), of=len(kind.vertices))
    plural, same = subject.all_of(kind), kind.label == step.target
    conditions = [" WHERE n <> a", " WHERE o <> a"] if same else ["", ""]
    verb = subject.verb(step).many
    return Draft(
        name=f"{plural.words.capitalize()} with {one.words} and {other.words}",
        question=(
            f"Which {plural.words} {verb} at least one {one.one} and at least one {other.one}"
            f"{' other than itself' if same else ''}? "
            f"Give the set of their {subject.names(kind)}."
        ),
        cypher=(
            f"MATCH {plural.pattern('a')}{step.cypher}{one.pattern('n')}{conditions[0]} "
            f"WITH DISTINCT a MATCH (a){step.cypher}{other.pattern('o')}{conditions[1]} "
            f"RETURN DISTINCT {identifier(kind, 'a')} AS id"
        ),
        answer=found,
        tags=("join", "set"),
    )
