"""``python -m pytest_llmeval`` is ``llmeval``."""

import sys

from pytest_llmeval.cli import main

sys.exit(main())
