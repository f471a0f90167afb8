"""The soak's own modules, which are scripts of performance/."""

from __future__ import annotations

import sys
from pathlib import Path

PERFORMANCE = str(Path(__file__).parents[2] / "performance")

# For these imports alone: performance/ has modules that are named like folders of tests.
sys.path.append(PERFORMANCE)
import soak_check  # noqa: E402, F401 - found by the path above, and by the tests under this name
import soak_ledger  # noqa: E402, F401 - as above

sys.path.remove(PERFORMANCE)
