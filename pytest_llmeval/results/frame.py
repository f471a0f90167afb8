"""The rows of a run as a pandas data frame."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, get_args

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.flat_row import CORRECT, DETAIL, GROUP, SCORE, Value, flat_row

if TYPE_CHECKING:
    import pandas as pd

_CATEGORIES: Final = frozenset(
    {"test", "task", "model", "outcome", "stop_reason", "engine", "stands_in_for", "worker"}
)
"""Columns of few texts, each met in many rows."""

_FLOATS: Final = frozenset({"cost", "seconds", "age"})

_INT64: Final = range(-(2**63), 2**63)

_TYPES: Final[Mapping[frozenset[type], str]] = {
    frozenset({bool}): "boolean",
    frozenset({int}): "Int64",
    frozenset({float}): "float64",
}


def data_frame(rows: Iterable[Row]) -> pd.DataFrame:
    """Return one line for each row, in their order; see `flat_row` for the columns.

    Names and outcomes are categories, numbers of tokens and epochs nullable integers (Int64),
    yes and no is boolean, scores and costs are floats, tags are tuples. A group is a category if
    each row has one value at most, else it consists of tuples. What a row lacks is missing (NA).

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - an extra, and heavy
    except ImportError:
        msg = (
            "a data frame needs pandas; "
            "install it with: pip install 'pytest-llmeval-suite[dataframe]'"
        )
        raise UsageError(msg) from None
    columns, count = _columns(rows)
    ordered = sorted(columns, key=_place)
    return pd.DataFrame(
        {name: _series(pd, name, columns[name]) for name in ordered}, index=pd.RangeIndex(count)
    )


def _columns(rows: Iterable[Row]) -> tuple[dict[str, list[Value]], int]:
    """Return the values of each column, and the number of rows; None where a row has none."""
    empty = flat_row(
        Row(test="", task="", sample="", model="", epoch=1, nodeid="", outcome="error")
    )
    columns: dict[str, list[Value]] = defaultdict(list, {name: [] for name in empty})
    count = 0
    for count, row in enumerate(rows, start=1):
        for name, value in flat_row(row).items():
            column = columns[name]
            column.extend([None] * (count - 1 - len(column)))
            column.append(value)
    for column in columns.values():
        column.extend([None] * (count - len(column)))
    return columns, count


def _place(name: str) -> tuple[int, str]:
    """Return the order of columns: those of every run, scores, groups, details by name."""
    for place, start in enumerate((SCORE, CORRECT, GROUP, DETAIL), start=1):
        if name.startswith(start):
            return place, name
    return 0, ""


def _series(pd: Any, name: str, values: Sequence[Value]) -> pd.Series:  # noqa: ANN401 - the module
    """Return one column with the type that its values have."""
    if name.startswith(GROUP):
        return _group(pd, values)
    if name == "outcome":
        return pd.Series(pd.Categorical(values, categories=get_args(Outcome)))
    if name in _CATEGORIES:
        return _category(pd, values)
    return pd.Series(values, dtype=_dtype(pd, name, values))


def _category(pd: Any, values: Sequence[Value]) -> pd.Series:  # noqa: ANN401 - as above
    # As objects, and by their places: pandas else keeps texts in Arrow's memory, which refuses half
    # a surrogate pair.
    known = sorted({str(value) for value in values if value is not None})
    places = {text: place for place, text in enumerate(known)}
    codes = [-1 if value is None else places[str(value)] for value in values]
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(known, dtype=object)))


def _group(pd: Any, values: Sequence[Value]) -> pd.Series:  # noqa: ANN401 - as above
    """Return the values of a group: the one of each row, or tuples where a row has several."""
    several = [value if isinstance(value, tuple) else () for value in values]
    if any(len(value) > 1 for value in several):
        return pd.Series(several, dtype=object)
    return _category(pd, [value[0] if value else None for value in several])


def _dtype(pd: Any, name: str, values: Iterable[Value]) -> object:  # noqa: ANN401 - as above
    """Return the type of a column: by its name, else the narrowest one that holds the values."""
    if name in _FLOATS or name.startswith(SCORE):
        return "float64"
    if name == "correct" or name.startswith(CORRECT):
        return "boolean"
    there = [value for value in values if value is not None]
    kinds = {type(value) for value in there}
    if kinds <= {str}:
        return pd.StringDtype("python")
    if kinds == {int} and not all(value in _INT64 for value in there):
        return object
    return _TYPES.get(frozenset(kinds), object)
