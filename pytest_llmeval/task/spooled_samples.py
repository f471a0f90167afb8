"""Samples in a temporary file, for datasets whose texts are too long to keep in memory."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, overload

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Sample

IN_MEMORY: Final = 16_000_000
"""Characters of the inputs of a dataset's samples up to which they are kept in memory."""


def collected(samples: Iterable[Sample]) -> Sequence[Sample]:
    """Return samples, in memory or in a temporary file if their texts are long.

    UsageError when the temporary file cannot be written.
    """
    kept: list[Sample] = []
    spooled: SpooledSamples | None = None
    length = 0
    for sample in samples:
        if spooled is not None:
            spooled.append(sample)
            continue
        kept.append(sample)
        length += len(sample.input)
        if length > IN_MEMORY:
            spooled = SpooledSamples(kept)
            kept.clear()
    return tuple(kept) if spooled is None else spooled


class SpooledSamples(Sequence[Sample]):
    """Samples in an unnamed temporary file; each is read when it is asked for, from any thread."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        """Write samples to a new file; UsageError when that fails."""
        self._ends = array("q", [0])
        try:
            self._file, name = tempfile.mkstemp(prefix="llmeval-")
            Path(name).unlink()
        except OSError as error:
            raise _refusal(error) from error
        weakref.finalize(self, os.close, self._file)
        for sample in samples:
            self.append(sample)

    def append(self, sample: Sample) -> None:
        """Write a further sample; UsageError when that fails."""
        data, written = pickle.dumps(sample), 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            raise _refusal(error) from error
        self._ends.append(self._ends[-1] + len(data))

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        """Read a sample, or several."""
        if isinstance(index, slice):
            return tuple(self[one] for one in range(*index.indices(len(self))))
        number = range(len(self))[index]
        start, end = self._ends[number], self._ends[number + 1]
        sample: Sample = pickle.loads(os.pread(self._file, end - start, start))  # noqa: S301 - our own file
        return sample


def _refusal(error: OSError) -> UsageError:
    folder = tempfile.gettempdir()
    return UsageError(f"the samples cannot be kept in {folder}, which TMPDIR may change: {error}")


class SamplesById(Mapping[str, Sample]):
    """Samples by their ids, each looked up where it lies."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        """Read all ids."""
        self._samples = samples
        self._numbers = {sample.id: number for number, sample in enumerate(samples)}

    def __getitem__(self, name: str) -> Sample:
        """Return a sample; KeyError for an unknown id."""
        return self._samples[self._numbers[name]]

    def __iter__(self) -> Iterator[str]:
        """Yield the ids in the order of the samples."""
        return iter(self._numbers)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._numbers)
