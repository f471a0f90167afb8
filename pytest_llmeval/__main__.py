"""``python -m pytest_llmeval`` is ``llmeval``."""

import sys

from pytest_llmeval.commands.main import main

sys.exit(main())
