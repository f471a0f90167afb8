"""Handling of SIGTERM like Ctrl-C, so that the run's rows are kept and its table is written."""

from __future__ import annotations

import signal
import threading


class SigtermAsCtrlC:
    """A handler by which SIGTERM raises KeyboardInterrupt between `install` and `restore`.

    A handler that another plugin or program has set is not replaced.
    """

    def __init__(self) -> None:
        """Change nothing yet."""
        self._installed = False

    def install(self) -> None:
        """Set the handler; without effect outside the main thread, where Python forbids it."""
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            self._installed = True

    def restore(self) -> None:
        """Restore the default handler, if `install` replaced it."""
        if self._installed:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._installed = False
