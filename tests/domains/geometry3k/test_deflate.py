"""Our DEFLATE: any decoder gives the bytes back, and the stream is always the same."""

from __future__ import annotations

import hashlib
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.domains.geometry3k import deflate
from pytest_llmeval.domains.geometry3k.deflate import deflated
from pytest_llmeval.domains.geometry3k.huffman import code_lengths, codes

REPETITIVE = st.lists(
    st.tuples(st.binary(min_size=1, max_size=12), st.integers(1, 300)), max_size=8
).map(lambda runs: b"".join(part * times for part, times in runs))
"""Runs, among them long ones, of one byte and of several."""

ANY = st.one_of(
    st.binary(max_size=3),
    REPETITIVE,
    st.tuples(REPETITIVE, st.binary(max_size=600), REPETITIVE).map(b"".join),
    st.tuples(st.integers(), st.integers(0, 3_000), st.integers(1, 255)).map(
        lambda of: bytes(random.Random(of[0]).choices(range(of[2] + 1), k=of[1]))
    ),
)
DISTANCES = st.lists(st.integers(-5, 40_000), max_size=4)


@settings(max_examples=60, deadline=None)
@given(ANY, DISTANCES)
def test_zlib_gives_the_bytes_back(data: bytes, distances: list[int]) -> None:
    assert zlib.decompress(deflated(data, distances=distances)) == data


@settings(max_examples=15, deadline=None)
@given(ANY, st.integers(200, 900))
def test_so_it_does_of_several_pieces(data: bytes, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deflate, "PIECE", piece)
        assert zlib.decompress(deflated(data, distances=(1,))) == data


def test_a_piece_copies_from_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = random.Random(1).randbytes(20_000)
    monkeypatch.setattr(deflate, "PIECE", 20_000)
    stream = deflated(noise * 3, distances=(20_000,))
    assert len(stream) < 21_000
    assert zlib.decompress(stream) == noise * 3


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=2_000))
def test_what_cannot_be_compressed_is_stored(data: bytes) -> None:
    assert len(deflated(data, distances=())) <= len(data) + 11


def test_noise_of_several_stored_blocks_comes_back() -> None:
    noise = random.Random(2).randbytes(150_000)
    stream = deflated(noise, distances=(3,))
    assert len(stream) == len(noise) + 21
    assert zlib.decompress(stream) == noise


def test_a_copy_reaches_as_far_back_as_the_window_and_no_farther() -> None:
    part, between = random.Random(3).randbytes(300), random.Random(4).randbytes(40_000)
    for gap, copied in ((32_768 - 300, True), (32_768 - 299, False)):
        data = part + between[:gap] + part
        stream = deflated(data, distances=())
        assert zlib.decompress(stream) == data
        assert (len(stream) < len(data)) is copied


def test_the_stream_is_always_the_same() -> None:
    words = [b"flat", b"line", b"arc", b"\xff" * 90, b"\0\1\2"]
    data = b"".join(random.Random(5).choices(words, k=3_000))
    digest = hashlib.sha256(deflated(data, distances=(1, 90))).hexdigest()
    assert digest == "42948f9f768fb234bf80338b9c97cc86b7ec996b3a580705a639e6f752718bb7"


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=286))
def test_a_code_is_complete_and_short_enough(counts: list[int]) -> None:
    lengths = code_lengths(counts, 15)
    used = [length for length in lengths if length]
    assert max(used) <= 15
    assert sum(2.0**-length for length in used) == 1
    assert all(length for count, length in zip(counts, lengths, strict=True) if count)


def test_counts_that_would_give_longer_codes_than_allowed_do_not() -> None:
    counts = [1, 1]
    while len(counts) < 40:
        counts.append(counts[-1] + counts[-2])
    assert max(code_lengths(counts, 64)) == 39
    assert max(code_lengths(counts, 15)) == 15


def test_codes_are_those_of_the_standards_example() -> None:
    # RFC 1951, 3.2.2: A..H of lengths 3, 3, 3, 3, 3, 2, 4, 4; the first bit is the lowest here.
    named = ["010", "011", "100", "101", "110", "00", "1110", "1111"]
    found = codes([len(name) for name in named])
    assert found.tolist() == [int(name[::-1], 2) for name in named]
