"""SIGTERM ends a run as Ctrl-C does: with its rows kept and its table written."""

from __future__ import annotations

import signal
import threading


class SigtermAsCtrlC:
    """Lets SIGTERM raise KeyboardInterrupt between `install` and `restore`; somebody else's handler stays."""

    def __init__(self) -> None:
        """Change nothing yet."""
        self._installed = False

    def install(self) -> None:
        """Take SIGTERM over, where that is possible (Python allows it in the main thread alone)."""
        ours = threading.current_thread() is threading.main_thread()
        if ours and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            self._installed = True

    def restore(self) -> None:
        """Give it back."""
        if self._installed:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._installed = False
