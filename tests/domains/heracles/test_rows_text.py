from __future__ import annotations

import pytest

from pytest_llmeval.domains.heracles.rows import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_ROWS,
    NodeValue,
    PathValue,
    PointValue,
    RelationshipValue,
    RowsWriter,
    keeps_order,
    rows_text,
)
from pytest_llmeval.scoring.sldp import parse_sldp

NODE = NodeValue(
    ["Object"],
    {"name": "Ada's chair", "nodeSymbol": "O12", "center": PointValue((1.5, 2.25, -3.0))},
)
ROOM = NodeValue(["Room"], {"nodeSymbol": "R1"})
HOLDS = RelationshipValue("CONTAINS", {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (-0.0, "0.0"),
        (5.0, "5.0"),
        (1.5, "1.5"),
        (-18.695640563964844, "-18.6956406"),
        (1e-7, "1e-07"),
        (1e300, "1e+300"),
        (float("nan"), '"nan"'),
        (float("inf"), '"inf"'),
        ("O12", "O12"),
        ("trash can", '"trash can"'),
        ("trash_can", "trash_can"),
        ("2nd", "2nd"),
        ("5", '"5"'),
        ("1e5", '"1e5"'),
        ("null", '"null"'),
        ("", '""'),
        ('Ada\'s "x"\n', '"Ada\'s \\"x\\"\\n"'),
        (PointValue((1.5, 2.25, -3.0)), "POINT(1.5 2.25 -3.0)"),
        (PointValue((1.5, 2.0)), "POINT(1.5 2.0)"),
        ([], "[]"),
        (["a", 1, [None, 2.0]], "[a, 1, [null, 2.0]]"),
        ({"a": 1, "b c": ["x"]}, '{a: 1, "b c": [x]}'),
        (NODE, '(O12:Object {center: POINT(1.5 2.25 -3.0), name: "Ada\'s chair"})'),
        (ROOM, "(R1:Room)"),
        (NodeValue([], {}), "()"),
        (HOLDS, "[:CONTAINS]"),
        (RelationshipValue("X", {"w": 1}), "[:X {w: 1}]"),
        (PathValue([ROOM, NODE], [(HOLDS, True)]), "(R1)-[:CONTAINS]->(O12)"),
        (PathValue([NODE, ROOM], [(HOLDS, False)]), "(O12)<-[:CONTAINS]-(R1)"),
        (PathValue([ROOM], []), "(R1)"),
    ],
)
def test_a_value_reads_as_a_model_would_write_it(value: object, text: str) -> None:
    assert rows_text(["v"], [[value]]).text == f"v\n{text}\n(1 row)"


@pytest.mark.parametrize(
    "value",
    [
        "O12",
        "trash can",
        "5",
        5,
        -1.5,
        1e-7,
        PointValue((1.0, 2.0, 3.0)),
        ["a", ["b c", 1.5]],
        {"a": [1, 2]},
    ],
)
def test_what_can_be_an_answer_can_be_copied_as_sldp(value: object) -> None:
    text = rows_text([], [[value]]).text.splitlines()[0]
    assert str(parse_sldp(text))


def test_columns_head_the_rows_and_their_number_ends_them() -> None:
    result = rows_text(["room", "n"], [["R1", 2], ["R2", 0]])
    assert result.text == "room | n\nR1 | 2\nR2 | 0\n(2 rows)"
    assert (result.shown, result.cut) == (2, None)


def test_no_rows_are_said_to_be_none() -> None:
    assert rows_text(["id"], []).text == "(no rows)"
    assert rows_text([], []).text == "(no rows)"


def test_rows_without_an_order_are_sorted_with_numbers_in_order() -> None:
    rows = [["O10"], ["O9"], ["O100"], [f"O{'9' * 5000}"], ["O1"]]
    assert rows_text(["id"], rows, ordered=False).text.splitlines()[1:5] == [
        "O1",
        "O9",
        "O10",
        "O100",
    ]


def test_rows_with_an_order_keep_it() -> None:
    assert rows_text(["id"], [["O10"], ["O9"]], ordered=True).text == "id\nO10\nO9\n(2 rows)"


@pytest.mark.parametrize(
    ("cypher", "kept"),
    [
        ("MATCH (n) RETURN n", False),
        ("MATCH (n) RETURN n ORDER BY n.x", True),
        ("match (n) with n order\n by n.x return n", True),
        ("UNWIND nodes(p) AS n RETURN n", True),
        ("MATCH (n) RETURN n.reorder", False),
    ],
)
def test_the_order_of_rows_means_something_where_the_query_gives_one(
    cypher: str, *, kept: bool
) -> None:
    assert keeps_order(cypher) is kept


def test_too_many_rows_are_cut_and_the_cut_is_told() -> None:
    result = rows_text(["n"], ([number] for number in range(MAX_ROWS + 1)))
    assert (result.shown, result.cut) == (MAX_ROWS, f"{MAX_ROWS} rows")
    assert result.text.endswith(
        f"\n(cut: {MAX_ROWS} rows shown, {MAX_ROWS} rows is the limit; there is more)"
    )


def test_exactly_as_many_rows_as_allowed_are_not_cut() -> None:
    assert rows_text(["n"], ([number] for number in range(MAX_ROWS))).cut is None


def test_rows_that_take_too_much_room_are_left_out_whole() -> None:
    writer = RowsWriter(["n"], max_characters=20)
    rows = ["x" * 8, "y" * 8, "z" * 8, "a"]
    assert [writer.add([row]) for row in rows] == [True, True, False, False]
    assert writer.finish(ordered=True).text == (
        "n\nxxxxxxxx\nyyyyyyyy\n(cut: 2 rows shown, 20 characters is the limit; there is more)"
    )


def test_a_single_row_that_is_too_long_is_shown_as_far_as_it_goes() -> None:
    writer = RowsWriter([], max_characters=5)
    writer.add(["abcdefgh"])
    assert writer.finish(ordered=True).text.startswith("abcde…\n(cut: 1 row shown, 5 characters")


def test_a_huge_value_costs_no_more_than_the_room_there_is() -> None:
    taken = 0

    def convert(_: object) -> None:
        nonlocal taken
        taken += 1

    writer = RowsWriter(["v"], convert=convert)
    writer.add([[object()] * 1_000_000])
    assert taken < MAX_CHARACTERS
    assert len(writer.finish(ordered=True).text) < MAX_CHARACTERS + 200


def test_column_names_that_are_too_long_alone_are_cut_and_that_is_told() -> None:
    writer = RowsWriter(["abcdefghij"], max_characters=5)
    assert writer.add([1]) is False
    assert (
        writer.finish(ordered=True).text
        == "abcde…\n(cut: no rows shown, 5 characters is the limit; there is more)"
    )


def test_deep_nesting_ends_in_an_ellipsis_and_that_is_told() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    result = rows_text([], [[value]])
    line, foot = result.text.splitlines()
    assert line == "[" * (MAX_DEPTH + 1) + "…" + "]" * (MAX_DEPTH + 1)
    assert foot == f"(1 row; … stands for what lies deeper than {MAX_DEPTH} levels)"
    assert result.cut == f"{MAX_DEPTH} levels"


def test_a_columns_name_cannot_break_the_header() -> None:
    assert rows_text(["a|b\n", "c"], [[1, 2]]).text.splitlines()[0] == '"a|b\\n" | c'


def test_values_of_a_driver_are_converted_on_the_way() -> None:
    writer = RowsWriter(["n"], convert=lambda value: NODE if isinstance(value, frozenset) else None)
    writer.add([[frozenset()]])
    assert "[(O12:Object {" in writer.finish(ordered=True).text
