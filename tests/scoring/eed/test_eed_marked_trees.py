"""The compared trees as they are kept for drawing."""

from __future__ import annotations

from pytest_llmeval.scoring.eed import eed_score
from pytest_llmeval.scoring.eed.metric.marked import MAX_NODES


def marks(answer: str, target: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the marked nodes of both trees, by text."""
    trees = eed_score(answer, target).trees
    assert trees is not None
    return tuple(
        {node.text: node.mark for node in tree if node.mark}
        for tree in (trees.answer, trees.target)
    )  # type: ignore[return-value]


def test_a_relabelled_node_is_marked_in_both_trees() -> None:
    assert marks("3a+b", "5a+b") == ({"3": "relabel"}, {"5": "relabel"})


def test_what_is_missing_is_marked_in_the_target_and_what_is_too_much_in_the_answer() -> None:
    missing, there = marks("a+b", "a+b+c"), marks("a+b+c", "a+b")
    assert missing == ({}, {"c": "insert"})
    assert there == ({"c": "delete"}, {})


def test_a_deleted_subtree_is_marked_whole() -> None:
    (gone, _) = marks(r"a+b+\frac{c d p f g h}{k}", "a+b")
    assert set("cdpfgh") <= gone.keys()
    assert "a" not in gone


def test_children_stand_before_their_parent_with_their_number() -> None:
    trees = eed_score("3a+b", "5a+b").trees
    assert trees is not None
    assert trees.target[-1].children == 2
    assert sum(node.children for node in trees.target) == len(trees.target) - 1


def test_equal_formulas_and_enormous_ones_have_no_trees() -> None:
    assert eed_score("a+b", "b+a").trees is None
    huge = "+".join(f"x_{{{number}}}" for number in range(MAX_NODES))
    assert eed_score(f"{huge}+y", f"{huge}+z").trees is None
