"""Lists that scorers expect among the metadata of a sample."""

from __future__ import annotations

from pytest_llmeval.records import Json, Sample


def metadata_list(sample: Sample, column: str, entries: str) -> list[Json]:
    """Return the list in a sample's metadata.

    Args:
        sample: the sample.
        column: the name under which the metadata have it.
        entries: what the list holds, for the message, such as ``calls``.

    Raises:
        ValueError: it is missing, or no list.
    """
    listed = sample.metadata.get(column)
    if isinstance(listed, list):
        return listed
    problem = (
        "is missing; name its column in dataset.fields.metadata"
        if listed is None
        else f"is {listed!r:.60}, not a list of {entries}"
    )
    msg = f"metadata.{column} {problem}"
    raise ValueError(msg)
