"""What a page carries compressed, and how room is shared."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

from pytest_llmeval.report.pack import CHUNK, Pack, fair_share, json_text


def test_every_value_lies_where_the_pack_says() -> None:
    pack = Pack(10**9)
    values = [[number, "x" * (CHUNK // 3)] for number in range(8)]
    places = [pack.add(json.dumps(value)) for value in values]
    chunks = [json.loads(zlib.decompress(base64.b64decode(chunk))) for chunk in pack.chunks()]
    assert len(chunks) > 1
    assert [chunks[place.chunk][place.slot] for place in places] == values


def test_a_pack_tells_when_its_budget_is_used_and_how_much_still_fits() -> None:
    pack = Pack(2_000)
    assert pack.room == int(2_000 / 0.45)
    pack.add(json.dumps("a" * CHUNK))
    # Equal signs compress a thousandfold, so far more fits than was thought.
    assert pack.room > 100_000
    assert not pack.full
    for number in range(20):
        pack.add(json.dumps(f"{number}" * CHUNK))
    assert pack.full


@pytest.mark.parametrize(
    ("sizes", "budget", "share"),
    [
        ([10, 10, 10], 30, 30),  # all fit: each may have all
        ([10, 100, 100], 110, 50),  # the small one keeps its 10, the others share 100
        ([100, 100, 100], 90, 30),
        ([], 50, 50),
    ],
)
def test_small_values_keep_all_they_have_and_the_large_ones_share_the_rest(
    sizes: list[int], budget: int, share: int
) -> None:
    assert fair_share(sizes, budget) == share


def test_json_in_a_script_element_cannot_end_it() -> None:
    hostile = "</script><!-- & \u2028 \x00 \ud800"
    text = json_text({hostile: hostile})
    assert not set("<>&\u2028\x00") & set(text)
    assert json.loads(text) == {hostile: hostile}
