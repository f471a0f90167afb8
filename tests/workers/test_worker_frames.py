"""Frames are read as they were sent, or refused: whatever is done to their bytes on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.workers.frames import MAX_PAYLOAD, Frame, FrameError, Kind, Opener, Sealer

KEY, OTHER = b"k" * 32, b"o" * 32

FRAMES = st.lists(st.builds(Frame, st.sampled_from(Kind), st.binary(max_size=200)), min_size=1)


def sealed(frames: list[Frame], key: bytes = KEY) -> list[bytes]:
    sealer = Sealer(key)
    return [sealer.seal(*frame) for frame in frames]


def read(data: bytes, key: bytes = KEY) -> tuple[list[Frame], bool]:
    """Return the frames that are read from bytes, and whether something was refused."""
    opener = Opener(key)
    found: list[Frame] = []
    try:
        found.extend(frame for frame in opener.feed(data))
    except FrameError:
        return found, True
    return found, False


@given(FRAMES, st.data())
def test_frames_are_read_from_pieces_of_any_length(
    frames: list[Frame], data: st.DataObject
) -> None:
    rest, opener = b"".join(sealed(frames)), Opener(KEY)
    found: list[Frame] = []
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        found.extend(opener.feed(rest[:size]))
        rest = rest[size:]
    assert found == frames


@given(FRAMES, st.data())
def test_a_changed_bit_is_refused_and_only_frames_before_it_are_read(
    frames: list[Frame], data: st.DataObject
) -> None:
    pieces = sealed(frames)
    whole = bytearray(b"".join(pieces))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    before = 0
    while sum(map(len, pieces[: before + 1])) <= place:
        before += 1
    found, refused = read(bytes(whole))
    # A length that was made longer waits for bytes that do not come; it yields nothing either.
    assert found == frames[:before]
    more, refused_later = read(bytes(whole) + bytes(MAX_PAYLOAD + 100))
    assert refused or (more == found and refused_later)


@given(FRAMES, st.data())
def test_a_frame_that_is_repeated_left_out_or_moved_is_refused(
    frames: list[Frame], data: st.DataObject
) -> None:
    pieces = sealed(frames)
    order = data.draw(st.lists(st.integers(0, len(pieces) - 1), max_size=2 * len(pieces)))
    found, refused = read(b"".join(pieces[n] for n in order))
    right = 0
    while right < len(order) and order[right] == right:
        right += 1
    assert found == frames[:right]
    assert refused == (right < len(order))


@given(FRAMES)
def test_frames_of_another_key_or_direction_are_refused(frames: list[Frame]) -> None:
    assert read(b"".join(sealed(frames)), OTHER) == ([], True)


@given(st.binary(max_size=500))
def test_bytes_without_the_key_are_never_a_frame(data: bytes) -> None:
    assert read(data)[0] == []


def test_a_frame_cannot_make_the_reader_keep_more_than_the_most() -> None:
    opener = Opener(KEY)
    with pytest.raises(FrameError, match="at most"):
        list(opener.feed((MAX_PAYLOAD + 1).to_bytes(4, "big") + b"\0"))
    with pytest.raises(ValueError, match="at most"):
        Sealer(KEY).seal(Kind.DATA, bytes(MAX_PAYLOAD + 1))
    [frame] = opener_of_largest()
    assert len(frame.payload) == MAX_PAYLOAD


def opener_of_largest() -> list[Frame]:
    return list(Opener(KEY).feed(Sealer(KEY).seal(Kind.DATA, bytes(MAX_PAYLOAD))))
