"""Questions about what is linked with what, by one relationship or by a hierarchy of them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.draft import Draft, UnfitError, ranked
from pytest_llmeval.domains.heracles.questions.step import Step
from pytest_llmeval.domains.heracles.questions.subject import (
    Category,
    Group,
    Named,
    Subject,
    bounded,
    identifier,
)


def neighbours(subject: Subject) -> Draft:
    """Return the question "Which nodes is a node linked with?"."""
    step = subject.step(lambda one: not one.deep)
    return _targets(subject, step, subject.all_of(subject.target(step)))


def nodes_below(subject: Subject) -> Draft:
    """Return the question "Which nodes, or how many, lie below a node of a hierarchy?"."""
    step = subject.step(_downwards)
    start = _start(subject, step)
    below = linked(step, start)
    kind = subject.target(step)
    found = [one for one in kind.vertices if one.number in below]
    groups = [subject.group(Category(kind, key)) for key in kind.categories if subject.dice.flip()]
    group = groups[0] if groups else subject.all_of(kind)
    number = subject.counted(sum(one in found for one in group.vertices))
    verb = subject.verb_back(step).many
    return Draft(
        name=f"Number of {group.words} below {start.words}",
        question=f"How many {group.words} {verb} {start.words}?",
        cypher=(
            f"MATCH {start.pattern('a')}{step.cypher}{group.pattern('n')} "
            "RETURN count(DISTINCT n) AS number"
        ),
        answer=number,
        tags=("hierarchy", "count"),
    )


def values_of_neighbours(subject: Subject) -> Draft:
    """Return the question "Which values occur among the nodes that a node is linked with?"."""
    return _values(subject, subject.step(lambda one: not one.deep and _has_values(subject, one)))


def values_below(subject: Subject) -> Draft:
    """Return the question "Which values occur below a node of a hierarchy?"."""
    return _values(subject, subject.step(lambda one: _downwards(one) and _has_values(subject, one)))


def holder(subject: Subject) -> Draft:
    """Return the question "In which one does a node of a hierarchy lie?"."""
    step = subject.step(lambda one: one.deep and one.direction == "in")
    kind, above = subject.source(step), subject.target(step)
    node = subject.something(kind)
    found = above.identities(step.links.get(node.vertex.number, ()))
    if len(found) != 1:
        msg = "none, or several, above a node"
        raise UnfitError(msg)
    (identity,) = found
    group, verb = subject.all_of(above), subject.verb_back(step).one
    return Draft(
        name=f"{group.one.capitalize()} above {node.words}",
        question=(f"Which {group.one} {verb} {node.words}? Give its {subject.name(above)}."),
        cypher=(
            f"MATCH {node.pattern('a')}{step.cypher}{group.pattern('n')} "
            f"RETURN DISTINCT {identifier(above, 'n')} AS id"
        ),
        answer=identity,
        tags=("hierarchy",),
    )


def holders(subject: Subject) -> Draft:
    """Return the question "Which nodes of a hierarchy have one of a value below them?"."""
    step = subject.step(lambda one: _downwards(one) and _has_values(subject, one))
    above, below = subject.source(step), subject.target(step)
    group = subject.group(subject.category(below))
    wanted = {one.number for one in group.vertices}
    found = {
        above.identity(one) for one in above.vertices if wanted & step.links.get(one.number, set())
    }
    subject.counted(len(found))
    bounded(len(found), of=len(above.vertices))
    plural = subject.all_of(above)
    return Draft(
        name=f"{plural.words.capitalize()} above {group.words}",
        question=(
            f"Which {plural.words} {subject.verb(step).many} at least one {group.one}? "
            f"Give the set of their {subject.names(above)}."
        ),
        cypher=(
            f"MATCH {plural.pattern('a')}{step.cypher}{group.pattern('n')} "
            f"RETURN DISTINCT {identifier(above, 'a')} AS id"
        ),
        answer=found,
        tags=("hierarchy", "set"),
    )


def nodes_in_nothing(subject: Subject) -> Draft:
    """Return the question "How many nodes lie below none of a kind?"."""
    step = subject.step(lambda one: one.deep and one.direction == "in")
    below, above = subject.all_of(subject.source(step)), subject.all_of(subject.target(step))
    inside = {one.number for one in above.vertices}
    number = sum(not inside & step.links.get(one.number, set()) for one in below.vertices)
    verb = subject.verb(step).many
    return Draft(
        name=f"{below.words.capitalize()} below no {above.one}",
        question=f"How many {below.words} {verb} no {above.one} at all?",
        cypher=(
            f"MATCH {below.pattern('n')} "
            f"WHERE NOT EXISTS {{ MATCH (n){step.cypher}{above.pattern('')} }} "
            "RETURN count(n) AS number"
        ),
        answer=subject.counted(number),
        tags=("hierarchy", "count"),
    )


def most_linked(subject: Subject) -> Draft:
    """Return the question "Which node is linked with the most others of a kind?"."""
    step = subject.step()
    sources, targets = subject.all_of(subject.source(step)), subject.all_of(subject.target(step))
    degrees = {one: len(reached(subject, step, one.number)) for one in sources.vertices}
    (first,) = ranked(sources.vertices, degrees.__getitem__, descending=True, first=1)
    kind = sources.kind
    return Draft(
        name=f"{sources.one.capitalize()} with the most {targets.words}",
        question=(
            f"Which {sources.one} {subject.verb(step).one} the largest number of different "
            f"{targets.words}{_others(step)}? Give its {subject.name(kind)}."
        ),
        cypher=(
            f"MATCH {sources.pattern('a')}{step.cypher}{targets.pattern('n')}{_distinct(step)} "
            f"RETURN {identifier(kind, 'a')} AS id, count(DISTINCT n) AS number "
            "ORDER BY number DESC LIMIT 1"
        ),
        answer=kind.identity(first),
        tags=("superlative", "hierarchy" if step.deep else "adjacency"),
    )


def number_by_node(subject: Subject) -> Draft:
    """Return the question "How many nodes is each node of a kind linked with?"."""
    step = subject.step(lambda one: len(subject.source(one).vertices) > 1)
    sources, targets = subject.all_of(subject.source(step)), subject.all_of(subject.target(step))
    bounded(len(sources.vertices))
    kind = sources.kind
    numbers = {
        kind.identity(one): len(reached(subject, step, one.number)) for one in sources.vertices
    }
    if len({*numbers.values()}) == 1:
        msg = "the same number for all"
        raise UnfitError(msg)
    return Draft(
        name=f"{targets.words.capitalize()} of each {sources.one}",
        question=(
            f"For each {sources.one}: how many different {targets.words}{_others(step)} "
            f"{subject.verb_back(step).many} it? Give a dictionary from "
            f"{subject.name(kind)} to number, with 0 where there are none."
        ),
        cypher=(
            f"MATCH {sources.pattern('a')} "
            f"OPTIONAL MATCH (a){step.cypher}{targets.pattern('n')}{_distinct(step)} "
            f"RETURN {identifier(kind, 'a')} AS id, count(DISTINCT n) AS number ORDER BY id"
        ),
        answer=numbers,
        tags=("dict", "count", "hierarchy" if step.deep else "adjacency"),
    )


def linked(step: Step, node: Named) -> AbstractSet[int]:
    """Return the numbers of what a step leads to from a node, the node itself not among them."""
    return step.links.get(node.vertex.number, frozenset()) - {node.vertex.number}


def reached(subject: Subject, step: Step, number: int) -> AbstractSet[int]:
    """Return the numbers of the nodes of a step's target that it leads to from another one."""
    kind = subject.target(step)
    # The links of one node are few; a set's `intersection` would go through all nodes of the kind.
    return {one for one in step.links.get(number, ()) if one in kind.by_number and one != number}


def _start(subject: Subject, step: Step) -> Named:
    """Return a node that a step leads somewhere from, or any one if answers may be empty."""
    kind = subject.source(step)
    if subject.empty:
        return subject.something(kind)
    found = [one for one in kind.vertices if reached(subject, step, one.number)]
    return subject.named(kind, found)


def _targets(subject: Subject, step: Step, group: Group) -> Draft:
    """Return the question for all that one step leads to from a node."""
    start = _start(subject, step)
    found = group.kind.identities(linked(step, start))
    subject.counted(len(found))
    bounded(len(found), of=len(group.vertices))
    return Draft(
        name=f"{group.words.capitalize()} beside {start.words}",
        question=(
            f"Which {group.words} {subject.verb_back(step).many} {start.words}? "
            f"Give the set of their {subject.names(group.kind)}."
        ),
        cypher=(
            f"MATCH {start.pattern('a')}{step.cypher}{group.pattern('n')}{_distinct(step)} "
            f"RETURN DISTINCT {identifier(group.kind, 'n')} AS id"
        ),
        answer=found,
        tags=("set", "adjacency"),
    )


def _values(subject: Subject, step: Step) -> Draft:
    """Return the question for the values of all that a step leads to from a node."""
    category = subject.category(subject.target(step))
    group, start = subject.all_of(category.kind), _start(subject, step)
    numbers = linked(step, start)
    found = {
        str(value)
        for one in group.vertices
        if one.number in numbers and (value := one.properties.get(category.key))
    }
    subject.counted(len(found))
    bounded(len(found))
    return Draft(
        name=f"{category.key} of {group.words} of {start.words}",
        question=(
            f"Which {subject.values(category)} occur among the {group.words} that "
            f"{subject.verb_back(step).many} {start.words}?{category.remark}"
        ),
        cypher=(
            f"MATCH {start.pattern('a')}{step.cypher}{group.pattern('n')} "
            f"WHERE {category.value('n')} <> {cypher_text.literal('')}"
            f"{' AND n <> a' if step.source == step.target else ''} "
            f"RETURN DISTINCT {category.value('n')} AS value"
        ),
        answer=found,
        tags=("set", "hierarchy" if step.deep else "adjacency"),
    )


def _downwards(step: Step) -> bool:
    return step.deep and step.direction == "out"


def _has_values(subject: Subject, step: Step) -> bool:
    return bool(subject.target(step).categories)


def _distinct(step: Step) -> str:
    """Return the condition that a node is not its own neighbour."""
    return " WHERE n <> a" if step.source == step.target else ""


def _others(step: Step) -> str:
    return " other than itself" if step.source == step.target else ""
