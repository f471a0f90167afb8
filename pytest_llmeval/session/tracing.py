"""The option ``--llmeval-traces``: spans of the run, made where OpenTelemetry is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row, RowKey, Transcript
from pytest_llmeval.session.settings import Settings

if TYPE_CHECKING:  # OpenTelemetry is optional, and imported where it is asked for
    from pytest_llmeval.telemetry.traces import Traces


class RunTraces:
    """The trace of a session; nothing happens unless the option asks for it."""

    def __init__(self, settings: Settings) -> None:
        """Take the session's settings."""
        self._settings = settings
        self._traces: Traces | None = None

    def open(self) -> None:
        """Begin the trace, if it is asked for.

        Raises:
            UsageError: the SDK or the exporter is missing, or the file cannot be written.
        """
        if self._settings.traces is None:
            return
        try:
            from pytest_llmeval.telemetry.exporter import open_exporter  # noqa: PLC0415 - optional
            from pytest_llmeval.telemetry.traces import Traces  # noqa: PLC0415 - as above
        except ImportError as error:
            msg = (
                f"--llmeval-traces needs OpenTelemetry ({error}): "
                "pip install 'pytest-llmeval-suite[telemetry]'"
            )
            raise UsageError(msg) from error
        place = self._settings.traces
        self._traces = Traces(open_exporter(place, Path(self._settings.folder)), place)

    def keep_transcript(self, key: RowKey, transcript: Transcript) -> None:
        """Keep what happened for a row until the row is reported; may be called by any thread."""
        if self._traces is not None:
            self._traces.keep_transcript(key, transcript)

    def add(self, row: Row) -> None:
        """Send the spans of a row that was just reported."""
        if self._traces is not None:
            self._traces.add(row)

    def close(self, folder: Path | None) -> tuple[str, ...]:
        """End the trace; return a remark if spans were lost.

        Args:
            folder: the run's folder; None without files.
        """
        if self._traces is None:
            return ()
        remark = self._traces.close({} if folder is None else {"llmeval.run": folder.name})
        return () if remark is None else (remark,)
