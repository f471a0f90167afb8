"""Laws of the expression edit distance, over generated formulas and trees."""

from __future__ import annotations

from operator import itemgetter
from typing import TypeAlias

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_llmeval.scoring.eed import Weights, eed_score
from pytest_llmeval.scoring.eed.metric.distance import PUBLISHED_WEIGHTS, TreeDistance
from pytest_llmeval.scoring.eed.metric.edits import Edit, edit_script
from pytest_llmeval.scoring.eed.metric.tree import Node, PostOrder

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=120, deadline=None)

LETTERS = "abcmr"

Twice: TypeAlias = tuple[str, str]
"""A formula in two writings, the second with some sums and products in another order."""


def commuting(template: str, inner: st.SearchStrategy[Twice]) -> st.SearchStrategy[Twice]:
    """Fill two places that commute, in either order in the second writing."""

    def written(one: Twice, other: Twice, order: list[int]) -> Twice:
        return template % (one[0], other[0]), template % tuple(
            (one[1], other[1])[place] for place in order
        )

    return st.builds(written, inner, inner, st.permutations((0, 1)))


def fixed(template: str, *inner: st.SearchStrategy[Twice]) -> st.SearchStrategy[Twice]:
    """Fill places that do not commute."""
    return st.tuples(*inner).map(
        lambda found: (template % tuple(f[0] for f in found), template % tuple(f[1] for f in found))
    )


exponents = st.sampled_from([("2", "2"), ("3", "3")])
written_twice = st.recursive(
    st.one_of(st.sampled_from(LETTERS), st.integers(2, 9).map(str)).map(lambda atom: (atom, atom)),
    lambda inner: st.one_of(
        commuting(r"\left(%s+%s\right)", inner),
        commuting(r"%s\cdot %s", inner),
        fixed(r"\left(%s-\pi\cdot %s\right)", inner, inner),  # never 0, so it may be a divisor
        fixed(r"\frac{%s}{%s}", inner, inner),
        fixed(r"\left(%s\right)^{%s}", inner, exponents),
        fixed(r"\sqrt{%s}", inner),
        fixed(r"\sin\left(%s\right)", inner),
    ),
    max_leaves=5,
)
formulas = written_twice.map(itemgetter(0))
labels = st.sampled_from("abcd")
trees = st.recursive(
    labels.map(lambda text: Node("symbol", text)),
    lambda inner: st.builds(
        lambda text, children: Node("operator", text, tuple(children)),
        labels,
        st.lists(inner, min_size=1, max_size=4),
    ),
    max_leaves=12,
)
weights = st.builds(
    Weights,
    insert=st.sampled_from([0.5, 1.0, 2.0]),
    delete=st.sampled_from([0.5, 1.0, 2.0]),
    relabel=st.sampled_from([0.5, 1.0, 3.0]),
)


@QUICK
@given(formulas)
def test_a_formula_equals_itself(formula: str) -> None:
    for mode in ("corrected", "published"):
        assert eed_score(formula, formula, mode=mode).score == 100


@QUICK
@given(formulas, formulas)
@example("a+b+c+m+r", "a+b+c+m+2")
def test_scores_are_bounded_and_between_60_and_100_there_is_nothing(
    answer: str, target: str
) -> None:
    result = eed_score(answer, target)
    assert 0 <= result.score <= 60 or result.score == 100
    assert result.reading != "unreadable"
    assert close(sum(edit.cost for edit in result.edits), result.distance or 0.0)


@QUICK
@given(formulas, formulas, st.permutations("kqstz"))
@example(r"\sin\left(a\cdot a\right)", r"\sin\left(a\cdot b\right)", list("qkstz"))
def test_renaming_all_symbols_alike_changes_nothing(
    answer: str, target: str, names: list[str]
) -> None:
    renaming = str.maketrans(LETTERS, "".join(names))
    plain = eed_score(answer, target)
    renamed = eed_score(rename(answer, renaming), rename(target, renaming))
    assert (renamed.score, renamed.distance) == (plain.score, plain.distance)


@QUICK
@given(written_twice, written_twice)
def test_commuting_arguments_on_either_side_changes_nothing(answer: Twice, target: Twice) -> None:
    plain = eed_score(answer[0], target[0])
    for commuted in (eed_score(answer[1], target[0]), eed_score(answer[0], target[1])):
        assert (commuted.score, commuted.distance) == (plain.score, plain.distance)


@QUICK
@given(st.lists(st.sampled_from(LETTERS), min_size=2, max_size=5, unique=True), st.data())
def test_one_renamed_symbol_costs_one_relabelling(letters: list[str], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(letters) - 1))
    renamed = [*letters[:position], data.draw(st.sampled_from("kqstxyz")), *letters[position + 1 :]]
    for operator in ("+", " "):
        result = eed_score(operator.join(renamed), operator.join(letters))
        assert [edit.kind for edit in result.edits] == ["relabel"]


@MANY
@given(trees, trees)
def test_distance_is_symmetric_when_directions_cost_the_same(source: Node, target: Node) -> None:
    assert close(TreeDistance(source, target).value, TreeDistance(target, source).value)


@MANY
@given(trees, trees, weights)
def test_swapping_the_trees_swaps_insertion_and_deletion(
    source: Node, target: Node, costs: Weights
) -> None:
    swapped = Weights(insert=costs.delete, delete=costs.insert, relabel=costs.relabel)
    assert close(
        TreeDistance(source, target, costs).value, TreeDistance(target, source, swapped).value
    )


@MANY
@given(trees, trees)
def test_distance_is_0_for_equal_trees_alone(source: Node, target: Node) -> None:
    assert (TreeDistance(source, target).value == 0) == (source == target)
    assert TreeDistance(source, source).value == 0


@MANY
@given(trees, trees)
def test_distance_is_at_most_replacing_everything(source: Node, target: Node) -> None:
    everything = PUBLISHED_WEIGHTS.subtree(len(PostOrder.of(source))) + PUBLISHED_WEIGHTS.subtree(
        len(PostOrder.of(target))
    )
    assert TreeDistance(source, target).value <= everything + 1e-9


@MANY
@given(trees, trees, weights)
def test_the_edits_turn_one_tree_into_the_other_at_the_price_of_the_distance(
    source: Node, target: Node, costs: Weights
) -> None:
    found = TreeDistance(source, target, costs)
    script = edit_script(found)
    assert close(sum(edit.cost for edit in script), found.value)
    assert edited(found.source, script) == stripped(found.target, script)


def edited(tree: PostOrder, script: tuple[Edit, ...]) -> list[Node]:
    """Return the forest that is left of the source after deletions and relabellings."""
    labels = {edit.source: edit.becomes for edit in script if edit.kind == "relabel"}
    deleted = {edit.source for edit in script if edit.kind == "delete"}
    whole = {edit.source for edit in script if edit.kind == "delete subtree"}
    return forest(tree, labels, deleted, whole)


def stripped(tree: PostOrder, script: tuple[Edit, ...]) -> list[Node]:
    """Return the forest that is left of the target when everything inserted is taken out again."""
    inserted = {edit.target for edit in script if edit.kind == "insert"}
    whole = {edit.target for edit in script if edit.kind == "insert subtree"}
    return forest(tree, {}, inserted, whole)


def forest(
    tree: PostOrder, labels: dict[int | None, str], gone: set[int | None], whole: set[int | None]
) -> list[Node]:
    """Return the remaining forest; the children of a node that is gone take its place."""
    kept: list[list[Node]] = []
    for index, node in enumerate(tree.nodes):
        below = [child for k in range(index) if tree.parents[k] == index for child in kept[k]]
        text = labels.get(index, node.text)
        kept.append(
            []
            if index in whole
            else below
            if index in gone
            else [Node("symbol", text, tuple(below))]
        )
    return kept[-1]


def rename(formula: str, renaming: dict[int, int]) -> str:
    """Rename the symbols, not the letters of commands."""
    pieces = formula.split("\\")
    names = ("left", "right", "cdot", "frac", "sqrt", "sin", "pi")
    renamed = [pieces[0].translate(renaming)]
    for piece in pieces[1:]:
        name = next(name for name in names if piece.startswith(name))
        renamed.append(name + piece.removeprefix(name).translate(renaming))
    return "\\".join(renamed)


def close(one: float, other: float) -> bool:
    return abs(one - other) < 1e-9
