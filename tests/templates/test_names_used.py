"""The variables that a template uses are found without evaluating anything of it."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.templates.filling import FillingError, filled
from pytest_llmeval.templates.language import names_used


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("{{ input }}", [("input", 1, True)]),
        ("a\n{{ input|upper }}", [("input", 2, False)]),
        ("{{ metadata.x }}{{ tags[0] }}", [("metadata", 1, False), ("tags", 1, False)]),
        ("{% if a %}\n{{ b }}{% endif %}", [("a", 1, False), ("b", 2, True)]),
        ("{% for t in tags %}{{ t }}{{ loop.index }}{% endfor %}", [("tags", 1, False)]),
        ("{% set n = input %}{{ n }}", [("input", 1, False)]),
        ("{% macro m(a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}", [("b", 1, True)]),
        ("{{ range(3)|list }}{# {{ nothing }} #}{% raw %}{{ raw }}{% endraw %}", []),
        ("no names, {{ 'x' }}", []),
    ],
)
def test_each_use_has_its_line_and_whether_it_is_put_in_as_it_is(
    text: str, uses: list[tuple[str, int, bool]]
) -> None:
    assert [tuple(use) for use in names_used(text)] == uses


def test_constants_are_not_folded() -> None:
    tracemalloc.start()
    names_used("{{ 'a' * 100_000_000 }}{{ candidate }}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


NAMES = st.sampled_from(["one", "two", "three"])


@given(st.lists(NAMES, max_size=4), st.sets(NAMES))
def test_a_template_is_filled_exactly_if_every_name_that_it_uses_has_a_value(
    used: list[str], known: set[str]
) -> None:
    text = " ".join(f"{{{{ {name} }}}}" for name in used)
    assert [use.name for use in names_used(text)] == used
    values = {name: name.upper() for name in sorted(known)}
    if set(used) <= known:
        assert filled(text, values) == " ".join(name.upper() for name in used)
    else:
        with pytest.raises(FillingError, match="is undefined"):
            filled(text, values)
