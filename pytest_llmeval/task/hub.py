"""Dataset files on the Hugging Face hub, by address.

Access needs huggingface_hub, part of the extra ``hub``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from pytest_llmeval.errors import UsageError

HUB: Final = "hub://"
"""The start of an address on the Hugging Face hub, which distinguishes it from a path."""

FORM: Final = f"{HUB}OWNER/NAME/FILE@REVISION"
"""The form of an address."""

_ADDRESS: Final = re.compile(
    r"hub://(?P<owner>[^/@]+)/(?P<name>[^/@]+)/(?P<file>[^@]+)@(?P<revision>[^@\s]+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """One file in one revision of a dataset repository.

    Attributes:
        repository: ``owner/name``.
        file: path of the file in the repository.
        revision: a commit, tag or branch.
    """

    repository: str
    file: str
    revision: str

    @classmethod
    def parse(cls, address: str) -> Self:
        """Return the file at an address ``hub://owner/name/file@revision``.

        Raises:
            UsageError: the text is not of this form.
        """
        found = _ADDRESS.fullmatch(address)
        if found is None:
            msg = (
                f"{address!r} is not an address on the hub; "
                f"expected {FORM}, such as hub://me/demo/test.parquet@main"
            )
            raise UsageError(msg)
        return cls(
            repository=f"{found['owner']}/{found['name']}",
            file=found["file"],
            revision=found["revision"],
        )

    def __str__(self) -> str:
        """Return the address."""
        return f"{HUB}{self.repository}/{self.file}@{self.revision}"


def fetched(source: HubFile) -> Path:
    """Return the local path of a file that was fetched before, without any request.

    Raises:
        UsageError: the file was not fetched, or huggingface_hub is not installed.
    """
    return _located(source, local=True)


def fetch(source: HubFile) -> Path:
    """Return the local path of a file, which is downloaded unless it was fetched before.

    Raises:
        UsageError: the download failed, or huggingface_hub is not installed.
    """
    return _located(source, local=False)


def _located(source: HubFile, *, local: bool) -> Path:
    try:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415 - an extra, and heavy
        from huggingface_hub.errors import (  # noqa: PLC0415 - as above
            HfHubHTTPError,
            HFValidationError,
            LocalEntryNotFoundError,
            RemoteEntryNotFoundError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ImportError:
        msg = (
            f"{source}: needs huggingface_hub; "
            "install it with: pip install 'pytest-llmeval-suite[hub]'"
        )
        raise UsageError(msg) from None
    try:
        return Path(
            hf_hub_download(
                source.repository,
                source.file,
                repo_type="dataset",
                revision=source.revision,
                local_files_only=local,
            )
        )
    except LocalEntryNotFoundError as error:
        hint = (
            f"it was not fetched yet: llmeval fetch {source}"
            if local
            else f"the hub cannot be reached: {_why(error)}"
        )
        msg = f"{source}: {hint}"
    except RepositoryNotFoundError:
        msg = f"{source}: there is no such dataset, or it is private or gated: set HF_TOKEN"
    except RevisionNotFoundError:
        msg = f"{source}: the dataset has no such revision"
    except RemoteEntryNotFoundError:
        msg = f"{source}: the dataset has no such file in this revision"
    except (HfHubHTTPError, HFValidationError, OSError, ValueError) as error:
        msg = f"{source}: {_why(error)}"
    raise UsageError(msg)


def _why(error: Exception) -> str:
    """Return the first line of the innermost cause, which the library wraps in others."""
    while error.__cause__ is not None and isinstance(error.__cause__, Exception):
        error = error.__cause__
    return next(
        (line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__
    )
