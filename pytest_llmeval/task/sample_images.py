"""The pictures of a dataset's rows: paths in its folder, or bytes embedded in its file."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_llmeval.files.picture_header import check_picture_file
from pytest_llmeval.files.pictures import keep, own_folder
from pytest_llmeval.task.cells import shown
from pytest_llmeval.task.row_place import RowPlace


class SampleImages:
    """Checks the pictures of one dataset."""

    def __init__(self, dataset: Path) -> None:
        """Accept pictures below the folder of `dataset`, a file or a folder."""
        self._folder = os.path.realpath(dataset if dataset.is_dir() else dataset.parent)

    def path(self, place: RowPlace, value: object, column: str) -> str:
        """Return the absolute path of a picture.

        Args:
            place: position of the row.
            value: a path relative to the dataset's folder; bytes; or the hub's form ``{bytes,
                path}``, in which either may be None.
            column: name of the column.

        Raises:
            TaskError: the value is of another form, the path leaves the folder, or the file is not
                a PNG, JPEG, GIF or WebP, is cut off, or declares too many pixels.
        """
        if isinstance(value, dict):
            if isinstance(value.get("bytes"), str):
                problem = "holds a picture's bytes as text; only Parquet can hold bytes"
                raise place.error(column, problem)
            value = value.get("path") if value.get("bytes") is None else value["bytes"]
        if isinstance(value, bytes):
            return _stored(place, value, column)
        if not isinstance(value, str) or not value or "\0" in value:
            raise place.error(column, f"the image is {shown(value)}; it must be a path")
        # os.path in place of pathlib, which takes three times as long.
        path = os.path.realpath(os.path.join(self._folder, value))  # noqa: PTH118
        if os.path.isabs(value) or not path.startswith(self._folder + os.sep):  # noqa: PTH117
            raise place.error(column, f"the image {value!r} leaves the dataset's folder")
        try:
            check_picture_file(path)
        except OSError as error:
            problem = f"the image {value!r} cannot be read: {error.strerror}"
            raise place.error(column, problem) from None
        except ValueError as error:
            raise place.error(column, f"the image {value!r} is {error}") from None
        return path


def _stored(place: RowPlace, data: bytes, column: str) -> str:
    """Return the path of an embedded picture, stored in the user's cache."""
    try:
        path = keep(data, own_folder()).path
        check_picture_file(path)
    except ValueError as error:
        raise place.error(column, f"the image is {error}") from None
    except OSError as error:
        problem = (
            f"the image cannot be kept in {own_folder()}: {error.strerror or error}; "
            "set XDG_CACHE_HOME"
        )
        raise place.error(column, problem) from None
    return path
