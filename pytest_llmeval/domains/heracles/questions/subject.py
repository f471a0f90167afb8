"""What templates ask about: a schema, how it is spoken of, and choices from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.draft import MOST_ELEMENTS, Dice, UnfitError
from pytest_llmeval.domains.heracles.questions.kind import Kind
from pytest_llmeval.domains.heracles.questions.measure import Measure
from pytest_llmeval.domains.heracles.questions.property_graph import Vertex
from pytest_llmeval.domains.heracles.questions.schema import Schema
from pytest_llmeval.domains.heracles.questions.step import Step
from pytest_llmeval.domains.heracles.questions.vocabulary import Verb, quoted


class Group(NamedTuple):
    """Some nodes of one kind: all, or those of one value of a category."""

    kind: Kind
    words: str
    """In the plural."""
    one: str
    vertices: tuple[Vertex, ...]
    properties: str
    """The value as a map of Cypher with a blank before it, "" for all."""

    def pattern(self, variable: str) -> str:
        """Return the pattern of a node of the group."""
        return f"({variable}:{cypher_text.name(self.kind.label)}{self.properties})"


class Category(NamedTuple):
    """A category of a kind."""

    kind: Kind
    key: str

    def value(self, variable: str) -> str:
        """Return its value in Cypher."""
        return f"{variable}.{cypher_text.name(self.key)}"

    @property
    def remark(self) -> str:
        """What a question about the values must say of nodes without one."""
        empty = any(not vertex.properties.get(self.key) for vertex in self.kind.vertices)
        return " Empty or missing values do not count." if empty else ""


class Named(NamedTuple):
    """One node, as a question names it."""

    group: Group
    vertex: Vertex
    words: str

    def pattern(self, variable: str) -> str:
        """Return its pattern."""
        return self.group.pattern(variable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A schema and the dice.

    Attributes:
        empty: whether solutions may be 0 or empty.
    """

    schema: Schema
    dice: Dice
    empty: bool = False

    def kind(self, fits: Callable[[Kind], object] = lambda _: True) -> Kind:
        """Return a kind that fits."""
        found = [kind for kind in self.schema.kinds.values() if fits(kind)]
        return self.dice.pick(found, "such labels", key=lambda kind: kind.label)

    def step(self, fits: Callable[[Step], object] = lambda _: True) -> Step:
        """Return a step that fits, between kinds of several nodes: else its answers are trivial."""
        several = {label for label, kind in self.schema.kinds.items() if len(kind.vertices) > 1}
        found = [
            step
            for step in self.schema.steps
            if {step.source, step.target} <= several and fits(step)
        ]
        return self.dice.pick(
            found, "such relationships", key=lambda step: (step.type, step.source, step.target)
        )

    def category(self, kind: Kind | None = None) -> Category:
        """Return a category, of a kind if given."""
        kinds = self.schema.kinds.values() if kind is None else [kind]
        found = [Category(one, key) for one in kinds for key in one.categories]
        return self.dice.pick(
            found, "properties with shared values", key=lambda one: (one.kind.label, one.key)
        )

    def measure(self, kind: Kind) -> Measure:
        """Return a measure of a kind."""
        return self.dice.pick(kind.measures, "numeric properties", key=lambda one: one.words)

    def all_of(self, kind: Kind) -> Group:
        """Return all nodes of a kind."""
        words = self.schema.vocabulary
        return Group(kind, words.many(kind.label), words.one(kind.label), kind.vertices, "")

    def group(self, category: Category, fits: Callable[[int], object] = lambda _: True) -> Group:
        """Return the nodes of one value, whose number fits."""
        kind, key = category
        members = kind.members(key)
        value = self.dice.pick(
            [one for one in members if fits(len(members[one]))],
            "values that so many share",
            key=lambda one: (kind.label, key, one),
        )
        words, with_it = self.schema.vocabulary, f"with {key} {quoted(value)}"
        if key in words.categories:
            with_it = f"of {key} {quoted(value)}"
        return Group(
            kind,
            f"{words.many(kind.label)} {with_it}",
            f"{words.one(kind.label)} {with_it}",
            members[value],
            f" {{{cypher_text.name(key)}: {cypher_text.literal(value)}}}",
        )

    def any_group(self, kind: Kind, fits: Callable[[int], object] = lambda _: True) -> Group:
        """Return all nodes of a kind, or where it has categories sometimes those of one value."""
        if kind.categories and self.dice.flip():
            return self.group(self.category(kind), fits)
        return self.all_of(kind)

    def named(self, kind: Kind, vertices: Iterable[Vertex] | None = None) -> Named:
        """Return a node, named by its identifier."""
        found = kind.vertices if vertices is None else vertices
        vertex = self.dice.pick(
            found, "such nodes", key=lambda one: (kind.label, kind.identity(one))
        )
        identity = kind.identity(vertex)
        noun = self.schema.vocabulary.one(kind.label)
        words = (
            f"{noun} {identity}"
            if kind.identifier in self.schema.vocabulary.identifiers
            else f"the {noun} with {kind.identifier} {quoted(identity)}"
        )
        properties = f" {{{cypher_text.name(kind.identifier)}: {cypher_text.literal(identity)}}}"
        return Named(Group(kind, words, words, (vertex,), properties), vertex, words)

    def something(self, kind: Kind) -> Named:
        """Return a node, named by a value that it alone has where there is one, as people would."""
        alone = [
            Category(kind, key)
            for key in kind.categories
            if any(len(members) == 1 for members in kind.members(key).values())
        ]
        if not alone or self.dice.flip():
            return self.named(kind)
        category = self.dice.pick(alone, "categories", key=lambda one: one.key)
        group = self.group(category, lambda size: size == 1)
        return Named(group, group.vertices[0], f"the only {group.one}")

    def verb(self, step: Step) -> Verb:
        """Return the words for what a step's source has to do with its targets."""
        return self.schema.vocabulary.verb(step.type, step.direction, deep=step.deep)

    def verb_back(self, step: Step) -> Verb:
        """Return the words for what a step's targets have to do with its source."""
        return self.schema.vocabulary.verb(step.type, step.back, deep=step.deep)

    def target(self, step: Step) -> Kind:
        """Return the kind that a step leads to."""
        return self.schema.kinds[step.target]

    def source(self, step: Step) -> Kind:
        """Return the kind that a step starts from."""
        return self.schema.kinds[step.source]

    def values(self, category: Category) -> str:
        """Return the words for several values of a category."""
        return self.schema.vocabulary.values(category.key)

    def names(self, kind: Kind) -> str:
        """Return the words for the identifiers of several nodes."""
        return self.schema.vocabulary.identifier(kind.identifier)[1]

    def name(self, kind: Kind) -> str:
        """Return the words for the identifier of a node."""
        return self.schema.vocabulary.identifier(kind.identifier)[0]

    def counted(self, number: int) -> int:
        """Return the number; UnfitError if it is 0 and must not be."""
        if not number and not self.empty:
            msg = "an empty answer"
            raise UnfitError(msg)
        return number


def identifier(kind: Kind, variable: str) -> str:
    """Return the identifier of a node in Cypher."""
    return f"{variable}.{cypher_text.name(kind.identifier)}"


def bounded(size: int, *, of: int | None = None) -> None:
    """Raise UnfitError when a solution would have too many elements, or be all `of` a kind."""
    if of is not None and size == of:
        msg = "all there are"
        raise UnfitError(msg)
    if size > MOST_ELEMENTS:
        msg = f"an answer of more than {MOST_ELEMENTS} elements"
        raise UnfitError(msg)
