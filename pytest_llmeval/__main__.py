"""``python -m pytest_llmeval``, the same as ``llmeval``."""

import sys

from pytest_llmeval.commands.main import main

sys.exit(main())
