"""Files of results, whatever is in them: each line is read as it is, or left out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.providers import batch_wire
from pytest_llmeval.providers.anthropic import batch_results as anthropic
from pytest_llmeval.providers.openai import batch_results as openai

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(["custom_id", "response", "error", "result", "type", "status_code"])
LINES = st.dictionaries(MEMBERS, JSON | st.dictionaries(MEMBERS, JSON), max_size=5)


class Pieces:
    """The body of a response that comes in the given pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        """Take the pieces."""
        self._pieces = pieces

    async def iter_chunked(self, _: int) -> Any:
        for piece in self._pieces:
            yield piece


def lines_of(pieces: list[bytes]) -> list[bytes]:
    async def main() -> list[bytes]:
        content: Any = Pieces(pieces)
        return [line async for line in batch_wire.lines_in(content)]

    return asyncio.run(main())


@given(st.lists(st.binary(max_size=20)), st.data())
def test_lines_are_the_same_however_the_body_is_cut_into_pieces(
    lines: list[bytes], data: st.DataObject
) -> None:
    body = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert lines_of(pieces) == body.split(b"\n")[:-1]


@given(st.binary() | st.text().map(str.encode) | LINES.map(lambda one: json.dumps(one).encode()))
def test_any_line_is_a_result_with_its_id_or_none(line: bytes) -> None:
    for module in (openai, anthropic):
        result = module.result_in(line)
        if result is not None:
            assert json.loads(result.line, strict=False)["custom_id"] == result.key


def test_a_line_that_is_too_long_takes_no_others_with_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(batch_wire, "LONGEST_LINE", 10)
    assert lines_of([b"a\n", b"x" * 30, b"y" * 30 + b"\nb\n", b"c"]) == [b"a", b"b", b"c"]
