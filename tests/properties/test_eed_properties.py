"""Laws of the expression edit distance, over generated formulas and trees."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_llmeval.eed import Weights, eed_score
from pytest_llmeval.eed.distance import PUBLISHED_WEIGHTS, TreeDistance
from pytest_llmeval.eed.edits import Edit, edit_script
from pytest_llmeval.eed.tree import Node, Numbering

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=120, deadline=None)

LETTERS = "abcmr"
RENAMED = str.maketrans(LETTERS, "kqstz")


formulas_of_atoms = st.one_of(st.sampled_from(LETTERS), st.integers(2, 9).map(str))
formulas = st.recursive(
    formulas_of_atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: rf"\left({pair[0]}+{pair[1]}\right)"),
        st.tuples(inner, inner).map(lambda pair: rf"{pair[0]}\cdot {pair[1]}"),
        st.tuples(inner, inner).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
        st.tuples(inner, st.integers(2, 3)).map(lambda pair: rf"\left({pair[0]}\right)^{{{pair[1]}}}"),
        inner.map(lambda formula: rf"\sqrt{{{formula}}}"),
        inner.map(lambda formula: rf"\sin\left({formula}\right)"),
    ),
    max_leaves=5,
)
labels = st.sampled_from("abcd")
trees = st.recursive(
    labels.map(lambda text: Node("symbol", text)),
    lambda inner: st.builds(
        lambda text, children: Node("operator", text, tuple(children)), labels, st.lists(inner, min_size=1, max_size=4)
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
def test_scores_are_bounded_and_between_60_and_100_there_is_nothing(answer: str, target: str) -> None:
    result = eed_score(answer, target)
    assert 0 <= result.score <= 60 or result.score == 100
    assert result.reading != "unreadable"
    assert close(sum(edit.cost for edit in result.edits), result.distance or 0.0)


@QUICK
@given(formulas, formulas)
def test_renaming_all_symbols_alike_changes_nothing(answer: str, target: str) -> None:
    plain = eed_score(answer, target)
    renamed = eed_score(rename(answer), rename(target))
    assert (renamed.score, renamed.distance) == (plain.score, plain.distance)


@QUICK
@given(st.lists(formulas, min_size=2, max_size=3), formulas, st.randoms(use_true_random=False))
def test_commuting_the_terms_of_the_answer_changes_nothing(terms: list[str], target: str, random) -> None:  # noqa: ANN001 - hypothesis' own random type
    shuffled = random.sample(terms, len(terms))
    plain, commuted = eed_score("+".join(terms), target), eed_score("+".join(shuffled), target)
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
def test_swapping_the_trees_swaps_insertion_and_deletion(source: Node, target: Node, costs: Weights) -> None:
    swapped = Weights(insert=costs.delete, delete=costs.insert, relabel=costs.relabel)
    assert close(TreeDistance(source, target, costs).value, TreeDistance(target, source, swapped).value)


@MANY
@given(trees, trees)
def test_distance_is_0_for_equal_trees_alone(source: Node, target: Node) -> None:
    assert (TreeDistance(source, target).value == 0) == (source == target)
    assert TreeDistance(source, source).value == 0


@MANY
@given(trees, trees)
def test_distance_is_at_most_replacing_everything(source: Node, target: Node) -> None:
    everything = PUBLISHED_WEIGHTS.subtree(len(Numbering.of(source))) + PUBLISHED_WEIGHTS.subtree(
        len(Numbering.of(target))
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


def edited(tree: Numbering, script: tuple[Edit, ...]) -> list[Node]:
    """Return the forest that is left of the source after deletions and relabellings."""
    labels = {edit.source: edit.becomes for edit in script if edit.kind == "relabel"}
    deleted = {edit.source for edit in script if edit.kind == "delete"}
    whole = {edit.source for edit in script if edit.kind == "delete subtree"}
    return forest(tree, labels, deleted, whole)


def stripped(tree: Numbering, script: tuple[Edit, ...]) -> list[Node]:
    """Return the forest that is left of the target when everything inserted is taken out again."""
    inserted = {edit.target for edit in script if edit.kind == "insert"}
    whole = {edit.target for edit in script if edit.kind == "insert subtree"}
    return forest(tree, {}, inserted, whole)


def forest(tree: Numbering, labels: dict[int | None, str], gone: set[int | None], whole: set[int | None]) -> list[Node]:
    """Return what is left, with the children of a lost node in its place; kinds play no part here."""
    kept: list[list[Node]] = []
    for index, node in enumerate(tree.nodes):
        below = [child for k in range(index) if tree.parents[k] == index for child in kept[k]]
        text = labels.get(index, node.text)
        kept.append([] if index in whole else below if index in gone else [Node("symbol", text, tuple(below))])
    return kept[-1]


def rename(formula: str) -> str:
    """Rename the symbols, not the letters of commands."""
    pieces = formula.split("\\")
    names = ("left", "right", "cdot", "frac", "sqrt", "sin")
    renamed = [pieces[0].translate(RENAMED)]
    for piece in pieces[1:]:
        name = next(name for name in names if piece.startswith(name))
        renamed.append(name + piece.removeprefix(name).translate(RENAMED))
    return "\\".join(renamed)


def close(one: float, other: float) -> bool:
    return abs(one - other) < 1e-9
