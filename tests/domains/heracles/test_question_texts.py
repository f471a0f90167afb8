"""Names and values in queries, and solutions in SLDP, whatever the graph holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.draft import Dice
from pytest_llmeval.domains.heracles.questions.property_graph import (
    Edge,
    Position,
    PropertyGraph,
    Vertex,
)
from pytest_llmeval.domains.heracles.questions.schema import schema_of
from pytest_llmeval.domains.heracles.questions.schema_text import schema_text
from pytest_llmeval.domains.heracles.questions.solutions import (
    MisshapenError,
    sldp_value,
    value_of_rows,
)
from pytest_llmeval.domains.heracles.questions.subject import Subject
from pytest_llmeval.domains.heracles.questions.task_folder import task_texts
from pytest_llmeval.domains.heracles.questions.templates.steps import reached
from pytest_llmeval.domains.heracles.questions.vocabulary import PLAIN as PLAIN_WORDS
from pytest_llmeval.domains.heracles.rows import PointValue, rows_text
from pytest_llmeval.domains.heracles.tokens import decoded, read_tokens
from pytest_llmeval.scoring.sldp import parse_sldp, render_sldp, sldp_equals

TEXTS = st.text(
    st.one_of(
        st.sampled_from("'\"`\\\n\r\t |{}<>u0027ab"),
        st.characters(exclude_categories=["Cs"], min_codepoint=32),
    ),
    max_size=12,
)
SCALARS = TEXTS | st.integers(-(10**9), 10**9) | st.floats(-1e4, 1e4).map(lambda x: round(x, 3))
ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\\\": "\\", "\\'": "'"}


@given(TEXTS)
def test_a_value_in_a_query_is_one_string_and_nothing_more(text: str) -> None:
    query = decoded(f"RETURN {cypher_text.literal(text)} AS x")
    word, string, *_ = tokens = read_tokens(query)
    assert [word.text, string.kind, len(tokens)] == ["RETURN", "string", 4]
    body, meant = string.text[1:-1], ""
    while body:
        taken = next((escape for escape in ESCAPES if body.startswith(escape)), body[0])
        meant += ESCAPES.get(taken, taken)
        body = body[len(taken) :]
    assert meant == text


@given(TEXTS.filter(lambda text: text and "\\" not in text))
def test_a_name_in_a_query_is_one_name_and_nothing_more(text: str) -> None:
    _, _, _, _, name, *rest = read_tokens(f"MATCH (n:{cypher_text.name(text)}) RETURN n")
    assert (name.is_name, name.text, len(rest)) == (True, text, 3)


@settings(max_examples=150)
@given(
    SCALARS
    | st.builds(lambda *axes: Position(axes), *[st.integers(-99, 99).map(float)] * 3)
    | st.sets(SCALARS, max_size=4)
    | st.lists(SCALARS, max_size=4)
    | st.dictionaries(TEXTS | st.integers(), SCALARS, max_size=4)
)
def test_a_solution_is_valid_sldp_that_says_the_same(answer: Any) -> None:
    value = sldp_value(answer)
    try:
        assert parse_sldp(render_sldp(value)) == value
    except ValueError:
        # Keys that differ in the blanks around them alone are the same key.
        assert isinstance(answer, dict)
        assert len({str(key).strip() for key in answer}) < len(answer)


PLAIN = st.text("ab |\"',<>[]{}:", min_size=1, max_size=8)


@given(
    st.sets(PLAIN | st.integers(), min_size=1, max_size=4)
    | st.lists(PLAIN, max_size=4)
    | st.dictionaries(PLAIN | st.integers(), st.integers() | PLAIN, max_size=4)
    | PLAIN
)
def test_what_the_rows_say_is_the_solution_they_were_made_from(answer: Any) -> None:
    rows: list[list[object]]
    match answer:
        case dict():
            rows = [[key, value] for key, value in answer.items()]
        case set() | list():
            rows = [[one] for one in answer]
        case _:
            rows = [[answer, "another column"]]
    text = rows_text(["id", "number"], rows).text
    try:
        solution = sldp_value(answer)
        parse_sldp(render_sldp(solution))
    except ValueError:
        return
    assert sldp_equals(value_of_rows(text, answer), solution, case_sensitive=True)


@pytest.mark.parametrize(
    ("rows", "like"),
    [([[1], [2]], 1), ([], "x"), ([["a"], ["a"]], {"a"}), ([[PointValue([1, 2, 3]), 1]], {"a": 1})],
)
def test_rows_of_another_form_than_the_solution_are_refused(
    rows: list[list[object]], like: Any
) -> None:
    with pytest.raises(MisshapenError):
        value_of_rows(rows_text(["id"], rows).text, like)


def test_the_prompt_names_what_the_graph_holds_whatever_a_template_would_make_of_it() -> None:
    names = ("{{ 7 * 7 }}", "{% raw %}", "{# gone #}", "{{ input }}")
    vertices = [
        Vertex(number, (label,), {"id": number, "kind": names[0]})
        for number, label in enumerate([*names, *names])
    ]
    schema = schema_of(PropertyGraph(vertices, []), PLAIN_WORDS)
    texts = task_texts(Path("films"), "", schema, None)
    prompt = jinja2.Template(texts[Path("films/prompts/generate.md")]).render(input="Who?")
    assert schema_text(schema) in prompt
    assert all(name in prompt for name in names)
    assert "Who?" in prompt


def test_hundred_neighbours_are_not_looked_for_among_all_nodes() -> None:
    class Counted(dict[int, Vertex]):
        """Nodes that must not be gone through."""

        def __iter__(self) -> Iterator[int]:
            pytest.fail("all nodes were gone through")

    vertices = [Vertex(number, ("A",), {"id": number}) for number in range(4)]
    schema = schema_of(PropertyGraph(vertices, [Edge("T", 0, 1), Edge("T", 0, 0)]), PLAIN_WORDS)
    schema.kinds["A"].__dict__["by_number"] = Counted(enumerate(vertices))
    subject = Subject(schema=schema, dice=Dice(1))
    step = next(step for step in schema.steps if step.direction == "out")
    assert reached(subject, step, 0) == {1}
