"""Dataset files of the Hugging Face hub, by address, through huggingface_hub (the extra ``hub``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from pytest_llmeval.errors import UsageError

HUB: Final = "hub://"
"""How the address of a dataset on the Hugging Face hub begins, which is no path."""

FORM: Final = f"{HUB}OWNER/NAME/FILE@REVISION"

_ADDRESS: Final = re.compile(
    r"hub://(?P<owner>[^/@]+)/(?P<name>[^/@]+)/(?P<file>[^@]+)@(?P<revision>[^@\s]+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """One file of one revision (a commit, tag or branch) of a dataset repository."""

    repository: str
    file: str
    revision: str

    @classmethod
    def parse(cls, address: str) -> Self:
        """Return the file that ``hub://owner/name/file@revision`` names; UsageError for any other text."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            msg = f"{address!r} is no address on the hub; expected {FORM}, such as hub://me/demo/test.parquet@main"
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
    """Return where a file lies that was fetched before, without any request; UsageError when it was not."""
    return _located(source, local=True)


def fetch(source: HubFile) -> Path:
    """Return where a file lies, downloaded if it was not there; UsageError tells why it cannot be had."""
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
        msg = f"{source}: needs huggingface_hub; install it with: pip install 'pytest-llmeval-suite[hub]'"
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
    """Return the first line of the innermost cause: the library wraps what went wrong."""
    while error.__cause__ is not None and isinstance(error.__cause__, Exception):
        error = error.__cause__
    return next(
        (line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__
    )
